import { defineConfig } from "vite";

/** The notebook view: one module and one style sheet that need nothing else. */
export default defineConfig({
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../../pushforward/web/static",
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    lib: { entry: "src/widget.ts", formats: ["es"], fileName: () => "widget.js", cssFileName: "widget" },
  },
});
