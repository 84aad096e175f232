#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Compiling our modules takes a third of the start; the second start finds them compiled.
enableCompileCache()
// The compile cache was asked for by our launcher; what Gantry starts must not inherit it.
delete process.env.NODE_COMPILE_CACHE

const [first, ...rest] = process.argv.slice(2)
if (rest.length === 0 && (first === '--version' || first === '-V')) {
  const { version } = await import('./core/version.ts')
  process.stdout.write(`${version}\n`)
} else {
  const { main } = await import('./cli/main.ts')
  await main()
}
