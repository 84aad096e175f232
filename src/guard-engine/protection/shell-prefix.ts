import { textBeside } from '../../io/text-beside.ts'
import { quoteWord } from '../../shell/quote-word.ts'

/** The program through which an agent runs the commands of its shell, so that protected files are read-only for them. */
export const shellPrefixName = 'gantry-shell'

export interface ShellPrefix {
  /** The guard's home. The lists of the sessions are in its directory `kernel`. */
  readonly guardHome: string
  /** Starts Gantry: `gantry guard verify` writes the ledger, which no other command may. null when it is not known. */
  readonly gantry: readonly string[] | null
}

/**
 * A shell script, because it runs with every command: it starts in a millisecond. Everything in it is absolute, and the agent's command is
 * only an argument. It fails when the list of the session cannot be mounted, and says so when there is none.
 */
export function shellPrefixText({ guardHome, gantry }: ShellPrefix): string {
  const start = gantry === null ? ':' : `exec ${gantry.map(quoteWord).join(' ')} "$@"`
  return `#!/bin/sh
# Written by Gantry: runs a command with the protected files and the guard's own files mounted read-only.
guard_home=${quoteWord(guardHome)}
gantry() { ${start}; }
${textBeside(import.meta.url, './shell-prefix.sh')}`
}
