import { defineConfig } from "vite";

/** The whole page as one plain script: it runs from a folder, where modules do not. */
export default defineConfig({
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../../pushforward/web/static",
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "pushforwardPage", fileName: () => "site.js", cssFileName: "site" },
  },
});
