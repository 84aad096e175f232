import type { Command } from 'commander'
import type { CliContext, CliStream } from '../../src/cli/context.ts'

export interface CommandRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** One command in this process, with everything it prints. What it throws is the caller's. */
export async function runCommand(
  create: (context: CliContext) => Command,
  argv: readonly string[],
  { env, cwd }: Pick<CliContext, 'env' | 'cwd'>,
): Promise<CommandRun> {
  const printed = { stdout: '', stderr: '' }
  let exitCode = 0
  const stream = (name: keyof typeof printed): CliStream => ({
    isTTY: false,
    columns: 80,
    color: false,
    write: (text) => {
      printed[name] += text
    },
  })
  const command = create({
    cwd,
    env,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    signal: new AbortController().signal,
    setExitCode: (next) => {
      exitCode = next
    },
  })
  await command.exitOverride().parseAsync(argv, { from: 'user' })
  return { ...printed, exitCode }
}
