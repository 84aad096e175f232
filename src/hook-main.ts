import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { version } from './core/version.ts'
import type { RunningHook } from './guard/hook/answer-hook.ts'
import { runHook } from './guard/hook/run-hook.ts'
import { exitNow, writeOut } from './io/exit-now.ts'

/**
 * Runs one hook: reads the payload from stdin and answers on stdout and by the exit code. `hookBin` is the running file. `afterwards` is
 * called after the answer is written.
 */
export async function hookMain(hookBin: string, afterwards: () => void = () => {}): Promise<never> {
  const { size, mtimeMs } = statSync(hookBin)
  const edition = `${version}-${size}-${mtimeMs}`
  const call = {
    env: { ...process.env },
    program: { node: process.execPath, edition, ...programOf(hookBin) },
    uid: process.getuid?.() ?? null,
  }
  const argv = process.argv.slice(2)
  if (argv.length === 2 && argv[0] === '--serve') {
    const { runResident } = await import('./guard/hook/resident/run-resident.ts')
    await runResident(argv[1] ?? '', call)
    process.exit(0)
  }
  const { reply, isStuck, prepare } = await runHook({ ...call, argv, input: 0 })
  if (reply.stdout !== '') writeOut(1, reply.stdout)
  if (reply.stderr !== '') writeOut(2, reply.stderr)
  await prepare?.()
  afterwards()
  if (isStuck) exitNow(reply.exitCode)
  process.exit(reply.exitCode)
}

/** For a bundle that a checkout built from its sources: the installed program, and where the bundles are. */
function programOf(hookBin: string): Pick<RunningHook, 'hookBin' | 'bundles'> {
  const [, root] =
    /^(.+)[\\/]node_modules[\\/]\.cache[\\/]gantry[\\/]hook-[\d-]+[\\/]hook-bin\.js$/.exec(hookBin) ?? []
  if (root === undefined) return { hookBin }
  return { hookBin: join(root, 'bin/hook-bin.js'), bundles: dirname(dirname(hookBin)) }
}
