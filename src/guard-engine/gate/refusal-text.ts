import { counted } from '../../core/counted.ts'
import type { HookTraits } from '../../core/hook-event.ts'
import { shorten } from '../../core/shorten.ts'
import { printable } from '../printable.ts'
import type { Blockers } from './find-blockers.ts'

export interface Refusal {
  readonly blockers: Blockers
  readonly weakened: readonly string[]
  /** Declared commands that prove nothing. */
  readonly idle: readonly string[]
  readonly number: number
  readonly of: number
  readonly traits: HookTraits
  readonly root: string
  /** Words that start Gantry's program from any shell; null when they are not known. */
  readonly program: readonly string[] | null
}

const maxChars = 3_900
const maxCommands = 12
const maxCommandChars = 300
const maxWeakened = 12

/** What the agent is told: facts, and exactly what to run. Its first line is how a refusal is recognised when it comes back. */
export function refusalText(refusal: Refusal): string {
  const parts = [
    `Gantry guard: not done yet (refusal ${refusal.number} of ${refusal.of}).`,
    commandsPart(refusal),
    nothingKnownPart(refusal),
    weakenedPart(refusal.weakened),
    planPart(refusal.blockers),
  ].filter((part) => part !== null)
  const text = parts.join('\n\n')
  return shorten(text, maxChars)
}

/** The same in a few words, for the ledger and for the person. */
export function blockerWords({ commands, plan, nothingKnown }: Blockers): readonly string[] {
  return [
    ...commands.map(({ declared, text }) => `${line(declared.command)}: ${text}`),
    ...(nothingKnown ? ['no verification command is known'] : []),
    ...(plan === null ? [] : [`${plan.total - plan.done} open tasks in IMPLEMENTATION_PLAN.md`]),
  ]
}

function commandsPart({ blockers: { commands }, traits, root, program }: Refusal): string | null {
  if (commands.length === 0) return null
  const shown = commands.slice(0, maxCommands)
  // In a shell that lives on, only a full path says where a command runs.
  const place = traits.keepsShell === true ? `cd ${shellWord(root)} && ` : ''
  const runs = shown.map(({ declared }) => place + line(declared.command))
  const more = commands.length - shown.length
  const fence = fenceFor(runs)
  return [
    'The working tree changed, and it has no green run of these commands for the tree as it is:',
    ...shown.map(({ declared, text }) => `- ${quoted(declared.command)}: ${text}.`),
    ...(more > 0 ? [`- and ${more} more.`] : []),
    '',
    `To run in ${quoted(root)}, each in a call of its own, unchanged, in the foreground, after the last edit:`,
    `${fence}sh`,
    ...runs,
    fence,
    ...(traits.hidesExitCodes === true
      ? [
          'This agent does not tell its hooks how commands end. `gantry guard verify` runs them and records the evidence.',
          // A login shell, such as Codex starts, has a PATH of its own.
          ...(program === null
            ? []
            : [`Where the shell does not find it: ${program.map(shellWord).join(' ')} guard verify`]),
        ]
      : []),
  ].join('\n')
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function nothingKnownPart({ blockers, idle }: Refusal): string | null {
  if (!blockers.nothingKnown) return null
  return [
    'The working tree changed, and no verification command of this project is known.',
    ...(idle.length > 0
      ? [`Declared, but these succeed whatever the project is like: ${idle.map(quoted).join(', ')}.`]
      : []),
    'One is declared as a bullet with the command in backticks in AGENTS.md, in the section Verification of IMPLEMENTATION_PLAN.md, or under `verification_commands` in harness.json by a person.',
    'Without one, the answer has to say how the change was checked, and what was not.',
  ].join('\n')
}

function weakenedPart(weakened: readonly string[]): string | null {
  if (weakened.length === 0) return null
  const more = weakened.length - maxWeakened
  return [
    'Since the tests were last seen in order, they were weakened:',
    ...weakened.slice(0, maxWeakened).map((each) => `- ${printable(each, 400)}.`),
    ...(more > 0 ? [`- and ${more} more.`] : []),
    'What was not asked for is to be undone; what was is to be named in the answer. This is asked once; the person is told in any case.',
  ].join('\n')
}

function planPart({ plan }: Blockers): string | null {
  if (plan === null) return null
  const open = plan.total - plan.done
  const next = plan.open[0]
  return [
    `IMPLEMENTATION_PLAN.md has ${counted(open, 'open task')} of ${plan.total}.`,
    ...(next === undefined ? [] : [`The next one, quoted from the file: ${quoted(next)}`]),
  ].join('\n')
}

function line(command: string): string {
  return printable(command, maxCommandChars)
}

/** Text of the repository is data. */
function quoted(text: string): string {
  return JSON.stringify(printable(text, 200))
}

function fenceFor(lines: readonly string[]): string {
  const longest = Math.max(
    2,
    ...lines.flatMap((each) => (each.match(/`+/g) ?? []).map(({ length }) => length)),
  )
  return '`'.repeat(longest + 1)
}
