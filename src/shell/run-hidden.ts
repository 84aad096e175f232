import type { Shell, ShellState } from './interpreter.ts'

/** A text the shell looks at a second time, as it does with a prompt or with what stands in an arithmetic index: substitutions in it run. */
export function runHidden(text: string, state: ShellState, shell: Shell): void {
  if (/\$\(|`/.test(text)) shell.script(`: <<${end}\n${text}\n${end}\n`, state)
}

/** The same for a text that only matters where it is taken for a number or a name: in it an index would be evaluated. */
export function runIndexes(text: string, state: ShellState, shell: Shell): void {
  if (/\[[^\]]*(?:\$\(|`)/.test(text)) runHidden(text, state, shell)
}

const end = 'END_OF_WHAT_IS_HIDDEN'
