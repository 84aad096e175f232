import { flushCompileCache, registerHooks } from 'node:module'
import { afterAll } from 'vitest'

const root = new URL('../..', import.meta.url).href
const ofThisRun = /\?vitest=\d+$/

// Vitest reports each import to its main process and gives each test file a new URL, so that Node would compile it in every run.
// Only watching needs either.
if (process.env.VITEST_MODE === 'RUN')
  registerHooks({
    resolve(specifier, context, next) {
      if (/^\.\.?\/.*\.ts$/.test(specifier) && context.parentURL?.startsWith(root)) {
        const url = new URL(specifier, context.parentURL).href
        return { url, format: 'module-typescript', shortCircuit: true }
      }
      const found = next(specifier, context)
      if (!ofThisRun.test(found.url)) return found
      flushCompileCache()
      return { ...found, url: found.url.replace(ofThisRun, '') }
    },
  })

// The process of a test file is ended before it would write its cache itself.
afterAll(() => flushCompileCache())
