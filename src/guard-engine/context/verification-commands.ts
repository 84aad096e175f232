import type { DeclaredCommand } from '../contract.ts'
import { printable } from '../printable.ts'
import { block, fenced, fitting } from './block.ts'

const maxLength = 1200
const maxCommandLength = 240
const frame = 300

/** What verifies the project and what it is built with. */
export function verificationCommands(
  commands: readonly DeclaredCommand[],
  toolchains: readonly string[] = [],
): string {
  const used =
    toolchains.length === 0 ? [] : [`Built with, by its files: ${printable(toolchains.join(', '), 160)}.`]
  if (commands.length === 0)
    return block('Verification Commands', ['None is declared, and none was found.', ...used], maxLength)
  const { lines, omitted } = fitting(commands.map(commandLine), maxLength - frame)
  const more = omitted === 0 ? [] : [`${omitted} more are declared.`]
  return block('Verification Commands', [...fenced(lines), ...more, ...used], maxLength)
}

/** `npm test  (test, package.json)` */
function commandLine({ command, kind, source }: DeclaredCommand): string {
  return `${printable(command, maxCommandLength)}  (${kind === 'other' ? '' : `${kind}, `}${printable(source, 80)})`
}
