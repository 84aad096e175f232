import { statSync } from 'node:fs'
import { version } from './core/version.ts'
import { runHook } from './guard/hook/run-hook.ts'
import { leaveNow, writeOut } from './io/exit-now.ts'

/**
 * The program of the hooks: one payload on stdin, one answer on stdout and by the exit code, nothing else anywhere. `hookBin` is
 * the file that was started. `afterwards` is called when the answer is out.
 */
export async function hookMain(hookBin: string, afterwards: () => void = () => {}): Promise<never> {
  const { size, mtimeMs } = statSync(hookBin)
  const call = {
    env: { ...process.env },
    program: { node: process.execPath, hookBin, edition: `${version}-${size}-${mtimeMs}` },
    uid: process.getuid?.() ?? null,
  }
  const argv = process.argv.slice(2)
  if (argv.length === 1 && argv[0] === '--serve') {
    const { runResident } = await import('./guard/hook/resident/run-resident.ts')
    await runResident(call)
    process.exit(0)
  }
  const { reply, isStuck, startHelper } = await runHook({ ...call, argv, input: 0 })
  if (reply.stdout !== '') writeOut(1, reply.stdout)
  if (reply.stderr !== '') writeOut(2, reply.stderr)
  await startHelper?.()
  afterwards()
  if (isStuck) leaveNow(reply.exitCode)
  process.exit(reply.exitCode)
}
