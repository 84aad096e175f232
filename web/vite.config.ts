import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  build: {
    outDir: '../dist/view',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // Data in the files would need a weaker policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
  },
})
