import { flushCompileCache } from 'node:module'
import { afterAll } from 'vitest'

// The process of a test file is ended before it would write its cache itself.
afterAll(() => flushCompileCache())
