import { exec } from './exec.ts'

export interface PtySize {
  readonly rows: number
  readonly columns: number
}

/**
 * The argv that runs another argv under a pseudo-terminal, by way of util-linux `script`. Its exit code is passed on, death by
 * signal n as 128 + n. Both output streams arrive as one, on stdout, with the line ends of a terminal (`\r\n`); input is not echoed.
 * The whole command travels as one argument, which the system limits to 128 KiB.
 */
export function ptyArgv(
  argv: readonly [string, ...string[]],
  { rows, columns }: PtySize = { rows: 24, columns: 80 },
): readonly [string, ...string[]] {
  const command = [
    giveShellBack,
    `stty rows ${Math.trunc(rows)} cols ${Math.trunc(columns)}`,
    `exec ${argv.map(quoteForSh).join(' ')}`,
  ].join('\n')
  return ['sh', '-c', launch, command]
}

/** Whether programs can be run that way here: `script` is the right one and the system has a pseudo-terminal left to give. */
export async function findPty(env: Readonly<Record<string, string>>): Promise<boolean> {
  const argv = ptyArgv(['sh', '-c', 'test -t 0 && test -t 1 && test -t 2 && exit 42'])
  const { exitCode } = await exec({ argv, cwd: '/', env, timeoutMs: 5000, graceMs: 0 })
  return exitCode === 42
}

/** Exact for any text without NUL, in any POSIX shell. */
export function quoteForSh(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

// `script` runs its command with $SHELL, which may be a shell with other quoting. The program gets its own SHELL back.
const launch = `[ "\${SHELL+set}" ] && export GANTRY_PTY_SHELL="$SHELL"
export SHELL=/bin/sh
exec script -qfe -E never -c "$0" /dev/null`
const giveShellBack = `if [ "\${GANTRY_PTY_SHELL+set}" ]; then SHELL=$GANTRY_PTY_SHELL; else unset SHELL; fi
unset GANTRY_PTY_SHELL`
