import { type Command, type PipelineNode, parse } from 'unbash'
import type { DeclaredCommand } from '../contract.ts'
import { type ShellUnit, shellUnit, wordsKey } from './shell-unit.ts'

/** A declared command as it is looked for in a script. */
export interface Sought {
  readonly declared: DeclaredCommand
  /** Keys of the parts between `&&`; one for most. */
  readonly parts: readonly string[]
  /** Of a command with a single part and no pipe. */
  readonly words: readonly string[] | null
  /** These words in a row. */
  readonly text: string
}

export function soughtCommand(declared: DeclaredCommand): Sought {
  const nodes = chainOf(declared.command)
  const parts = nodes?.map(partKey) ?? [null]
  const only = nodes?.length === 1 ? simpleCommand(nodes[0]) : null
  const words = only === null ? null : shellUnit(only).words
  return {
    declared,
    // What cannot be read is never found.
    parts: parts.every((part) => part !== null) ? parts : [],
    words,
    text: words?.join(' ') ?? '',
  }
}

/** Key of one part of a chain: a simple command, or a pipe of them; null for anything else. */
export function partKey(node: PipelineNode): string | null {
  if (node.type === 'Command') return unitKey(shellUnit(node))
  if (node.type !== 'Pipeline' || node.prefixes.some(({ type }) => type === 'Negation')) return null
  const keys = node.commands.map((command) =>
    command.type === 'Command' ? unitKey(shellUnit(command)) : null,
  )
  return keys.includes(null) ? null : keys.join('|')
}

export function unitKey({ assignments, words }: Pick<ShellUnit, 'assignments' | 'words'>): string {
  return wordsKey([...assignments.map(({ text }) => text), ...words])
}

function simpleCommand(node: PipelineNode | undefined): Command | null {
  return node?.type === 'Command' ? node : null
}

/** The parts of `a && b`; null when the command is more than that. */
function chainOf(command: string): readonly PipelineNode[] | null {
  const { commands, errors } = parse(command)
  const [statement] = commands
  if (statement === undefined || commands.length > 1 || statement.background || errors !== undefined)
    return null
  const node = statement.command
  if (node.type !== 'AndOr') return [node]
  return node.operators.every((operator) => operator === '&&') ? node.commands : null
}
