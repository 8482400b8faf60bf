import { defineConfig } from "vitest/config";

/** The page: index.html and hashed assets, served from one origin, nothing inline. */
export default defineConfig({
  base: "/",
  build: {
    outDir: "../../pushforward/web/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
  test: { include: ["test/**/*.test.ts"] },
});
