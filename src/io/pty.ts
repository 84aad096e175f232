import { exec } from './exec.ts'

/**
 * The argv that runs another argv in a pseudo-terminal with `script` of util-linux. The exit code is passed on, death by signal n as
 * 128 + n. Both streams arrive on stdout with `\r\n`; input is not echoed. The whole command is one argument, which the system limits
 * to 128 KiB.
 */
export function ptyArgv(
  argv: readonly [string, ...string[]],
  { rows, columns }: { readonly rows: number; readonly columns: number } = { rows: 24, columns: 80 },
): readonly [string, ...string[]] {
  const command = [
    giveShellBack,
    `stty rows ${Math.trunc(rows)} cols ${Math.trunc(columns)}`,
    `exec ${argv.map(quoteForSh).join(' ')}`,
  ].join('\n')
  return ['sh', '-c', launch, command]
}

/** Whether this works here: `script` is the right one and the system has a free pseudo-terminal. */
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
