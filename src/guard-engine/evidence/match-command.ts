import { type PipelineNode, parse } from 'unbash'
import type { EvidenceKind } from '../../core/evidence.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { isHarmlessVariable } from '../../shell/script-state.ts'
import { type SimpleCommand, simpleCommand } from '../../shell/simple-command.ts'
import type { PlainCommand } from '../../shell/unwrap-command.ts'
import type { DeclaredCommand } from '../contract.ts'

/** A declared command in the form that is compared with a script. */
export interface WantedCommand {
  readonly declared: DeclaredCommand
  /** Keys of the parts between `&&`, one for most commands. Empty when the command cannot be compared. */
  readonly parts: readonly string[]
  /** The words, when it is a single simple command. */
  readonly words: readonly string[] | null
  /** These words in a row. */
  readonly text: string
}

/** A declared command that was found in a script. */
export interface FoundRun {
  readonly wanted: WantedCommand
  /** Why the end of the call does not show how it ended; null when the success of the call is its success. */
  readonly why: RunDoubt | null
  /** It runs with a time limit of the shell. */
  readonly limited: boolean
}

export interface RunDoubt {
  /** `other`: not the declared command ran. All others: it ran, but its end is hidden or means something else. */
  readonly kind: 'masked' | 'background' | 'conditional' | 'changed' | 'directory' | 'unreadable' | 'other'
  /** A sentence without a full stop; its subject is the command. */
  readonly text: string
}

export function wantedCommand(declared: DeclaredCommand): WantedCommand {
  const nodes = chainOf(declared.command)
  const parts = nodes?.map(partKey) ?? [null]
  const [only] = nodes?.length === 1 ? nodes : []
  const words = only?.type === 'Command' ? simpleCommand(only).words : null
  return {
    declared,
    parts: parts.every((part) => part !== null) ? parts : [],
    words,
    text: words?.join(' ') ?? '',
  }
}

/** Key of one part of a chain: a simple command, or a pipeline of them; null for anything else. */
export function partKey(node: PipelineNode): string | null {
  if (node.type === 'Command') return commandKey(simpleCommand(node))
  if (node.type !== 'Pipeline' || node.prefixes.some(({ type }) => type === 'Negation')) return null
  const keys = node.commands.map((command) =>
    command.type === 'Command' ? commandKey(simpleCommand(command)) : null,
  )
  return keys.includes(null) ? null : keys.join('|')
}

/** The declared commands that a simple command is, or only looks like. `inner` is the same without its wrappers. */
export function matchCommand(
  outer: SimpleCommand,
  { command: inner, limited }: PlainCommand,
  wanted: readonly WantedCommand[],
  doubt: RunDoubt | null,
): readonly FoundRun[] {
  const exact = exactMatches(outer, inner, wanted)
  const own = doubt ?? (inner.fed ? fed : null)
  const found: FoundRun[] = [...exact].map((each) => ({ wanted: each, why: own, limited }))
  const rest = outer.words.slice(1).join(' ')
  for (const each of wanted) {
    if (each.words === null || exact.has(each)) continue
    const isSameProgram = each.words[0] === inner.words[0]
    const why = isSameProgram
      ? differenceOf(inner, each.words, each.declared.kind)
      : mentionOf(outer, rest, each)
    if (why !== null) found.push({ wanted: each, why, limited })
  }
  return found
}

/** Variables that only change how the output looks make no difference. */
function exactMatches(
  outer: SimpleCommand,
  inner: SimpleCommand,
  wanted: readonly WantedCommand[],
): ReadonlySet<WantedCommand> {
  const candidates = wanted.filter(
    ({ parts, words }) =>
      parts.length === 1 && words !== null && (words[0] === inner.words[0] || words[0] === outer.words[0]),
  )
  if (candidates.length === 0) return new Set()
  const steering = inner.assignments.filter(({ name }) => !isHarmlessVariable(name))
  const keys = new Set([outer, inner, { ...inner, assignments: steering }].map(commandKey))
  return new Set(candidates.filter(({ parts }) => parts[0] !== undefined && keys.has(parts[0])))
}

const fed: RunDoubt = { kind: 'changed', text: 'was fed a here-document, which may steer it' }

function differenceOf(
  { words: run, assignments }: SimpleCommand,
  words: readonly string[],
  kind: EvidenceKind,
): RunDoubt | null {
  const isSameStart = words.every((word, index) => run[index] === word)
  if (isSameStart && run.length === words.length) {
    const names = assignments.map(({ name }) => name).join(', ')
    return { kind: 'changed', text: `ran with ${names} set for it, which can change what it does` }
  }
  if (isSameStart) {
    const more = run.slice(words.length).join(' ').replaceAll('\0', '').slice(0, 80)
    return { kind: 'other', text: `ran with more arguments (\`${more}\`), which is another command` }
  }
  const isSameKind = kind !== 'other' && kindOfCommand(run.join(' ')) === kind
  return isSameKind ? { kind: 'other', text: 'ran with other arguments than the declared ones' } : null
}

function mentionOf(outer: SimpleCommand, rest: string, { text }: WantedCommand): RunDoubt | null {
  if (text === '' || !rest.includes(text)) return null
  const program = outer.words[0]?.replaceAll('\0', '').slice(0, 40)
  return { kind: 'other', text: `was only named: \`${program}\` ran, not the command itself` }
}

function commandKey({ assignments, words }: Pick<SimpleCommand, 'assignments' | 'words'>): string {
  return JSON.stringify([...assignments.map(({ text }) => text), ...words])
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
