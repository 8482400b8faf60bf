import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Minified code loses its notices: ship the licenses of what is bundled beside it. */
function licenses(names: readonly string[]): Plugin {
  return {
    name: "licenses",
    generateBundle() {
      const texts = names.map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8")}`);
      this.emitFile({ type: "asset", fileName: "assets/licenses.txt", source: texts.join("\n\n") });
    },
  };
}

/** The page: index.html and hashed assets, served from one origin, nothing inline. */
export default defineConfig({
  base: "/",
  plugins: [licenses(["three", "uplot"])],
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
