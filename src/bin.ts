#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`gantry needs Node 24 or newer. \`node\` on the PATH is ${process.version}.\n`)
  process.exit(3)
}
// Compiling our modules takes a third of the start; the second start finds them compiled.
enableCompileCache()
// The compile cache was asked for by our launcher; what Gantry starts must not inherit it.
delete process.env.NODE_COMPILE_CACHE

const [first, ...rest] = process.argv.slice(2)
if (rest.length === 0 && (first === '--version' || first === '-V')) {
  const { version } = await import('./core/version.ts')
  process.stdout.write(`${version}\n`)
} else {
  // Node's compiled code of its own modules is not valid under the flag below, so the largest are loaded before.
  process.getBuiltinModule('node:child_process')
  // The compile cache keeps only what V8 compiles at once, so in the built program that is everything.
  if (import.meta.url.endsWith('.js')) setFlagsFromString('--no-lazy')
  const { main } = await import('./cli/main.ts')
  setFlagsFromString('--lazy')
  await main()
}
