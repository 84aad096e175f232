import type { EvidenceKind } from '../../core/evidence.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { FoundRun, RunDoubt } from './found-run.ts'
import { isHarmlessVariable } from './shell-state.ts'
import type { ShellUnit } from './shell-unit.ts'
import { type Sought, unitKey } from './sought-command.ts'
import { unwrapUnit } from './unwrap-unit.ts'

export interface FoundInCommand {
  readonly found: readonly FoundRun[]
  /** It cannot fail where the project stands. */
  readonly isHarmless: boolean
}

/** The declared commands one simple command is, or only looks like. */
export function findInCommand(
  outer: ShellUnit,
  sought: readonly Sought[],
  doubt: RunDoubt | null,
): FoundInCommand {
  const { unit, limited } = unwrapUnit(outer)
  const isHarmless = harmless.has(unit.words[0] ?? '')
  const exact = matches(outer, unit, sought)
  const own = doubt ?? (unit.fed ? fed : null)
  const found: FoundRun[] = [...exact].map((each) => ({ sought: each, why: own, limited }))
  const rest = outer.words.slice(1).join(' ')
  for (const each of sought) {
    if (each.words === null || exact.has(each)) continue
    const isSameProgram = each.words[0] === unit.words[0]
    const why = isSameProgram ? doubtAbout(unit, each.words, each.declared.kind) : namedBy(outer, rest, each)
    if (why !== null) found.push({ sought: each, why, limited })
  }
  return { found, isHarmless }
}

/** Also with the variables that only change how it looks. */
function matches(outer: ShellUnit, unit: ShellUnit, sought: readonly Sought[]): ReadonlySet<Sought> {
  const candidates = sought.filter(
    ({ parts, words }) =>
      parts.length === 1 && words !== null && (words[0] === unit.words[0] || words[0] === outer.words[0]),
  )
  if (candidates.length === 0) return new Set()
  const steering = unit.assignments.filter(({ name }) => !isHarmlessVariable(name))
  const keys = new Set([unitKey(outer), unitKey(unit), unitKey({ ...unit, assignments: steering })])
  return new Set(candidates.filter(({ parts }) => parts[0] !== undefined && keys.has(parts[0])))
}

const fed: RunDoubt = { kind: 'changed', text: 'was fed a here-document, which may steer it' }

/** Builtins that end well whatever the project is like. */
const harmless = new Set(['', 'cd', 'set', 'echo', 'printf', ':', 'true', 'source', '.', 'exit', 'export'])

function doubtAbout(unit: ShellUnit, words: readonly string[], kind: EvidenceKind): RunDoubt | null {
  const isSameStart = words.every((word, index) => unit.words[index] === word)
  if (isSameStart && unit.words.length === words.length) {
    const names = unit.assignments.map(({ name }) => name).join(', ')
    return { kind: 'changed', text: `ran with ${names} set for it, which can change what it does` }
  }
  if (isSameStart) {
    const more = unit.words.slice(words.length).join(' ').replaceAll('\0', '').slice(0, 80)
    return { kind: 'other', text: `ran with more arguments (\`${more}\`), which is another command` }
  }
  const isSameKind = kind !== 'other' && kindOfCommand(unit.words.join(' ')) === kind
  return isSameKind ? { kind: 'other', text: 'ran with other arguments than the declared ones' } : null
}

function namedBy(outer: ShellUnit, rest: string, { text }: Sought): RunDoubt | null {
  if (text === '' || !rest.includes(text)) return null
  const program = outer.words[0]?.replaceAll('\0', '').slice(0, 40)
  return { kind: 'other', text: `was only named: \`${program}\` ran, not the command itself` }
}
