import { relative } from 'node:path'
import { compilePattern, escapePattern } from '../../core/pattern.ts'
import { globOf } from '../../guard-engine/glob-of.ts'
import type { HookComponent, HookHandler } from '../analyze/contract.ts'
import { hookMatches, readMatcher } from '../analyze/matcher.ts'
import type { SimulatedEvent } from './contract.ts'
import { subjectField, subjectOf } from './event-effects.ts'
import type { LabNames, LabPlace } from './lab-place.ts'
import { simulatedEvents } from './simulated-events.ts'

export interface ChooseOptions {
  readonly place: LabPlace
  readonly names: LabNames
  readonly attacks: boolean
}

const benignMax = 5
const attacksMax = 16
const silentMax = 2

/**
 * Events for one handler: those that start it, and some that do not. Chosen by the group's matcher and the handler's `if`, like Claude
 * Code does. Deterministic.
 */
export function chooseEvents(group: HookComponent, handler: HookHandler, options: ChooseOptions) {
  const known = simulatedEvents(group.event, options.place, options.names)
  const all = [...known, ...invented(group, handler, known, options)]
  const fires = (event: SimulatedEvent): boolean => handlerFires(group, handler, event)
  const firing = all.filter(fires)
  const attacks = options.attacks ? firing.filter(({ intent }) => intent === 'attack') : []
  const benign = firing.filter(({ intent }) => intent !== 'attack')
  return {
    firing: [...inTurn(benign).slice(0, benignMax), ...inTurn(attacks).slice(0, attacksMax)],
    silent: all.filter((event) => event.intent === 'benign' && !fires(event)).slice(0, silentMax),
  }
}

function groupFires(
  { event, matcher }: Pick<HookComponent, 'event' | 'matcher'>,
  happened: SimulatedEvent,
): boolean {
  const subject = subjectOf(happened.event, happened.payload)
  return event === happened.event && (subject === null || hookMatches(matcher, subject))
}

/** Whether Claude Code starts the handler: by the matcher of its group, and by its own `if`. */
export function handlerFires(group: HookComponent, { raw }: HookHandler, event: SimulatedEvent): boolean {
  return groupFires(group, event) && (typeof raw.if !== 'string' || ruleFits(raw.if, event))
}

/** Events in an order that uses every subject once before repeating one. */
function inTurn(events: readonly SimulatedEvent[]): readonly SimulatedEvent[] {
  const seen = new Map<string, number>()
  const turns = events.map((event) => {
    const subject = subjectOf(event.event, event.payload) ?? ''
    const turn = seen.get(subject) ?? 0
    seen.set(subject, turn + 1)
    return { event, turn }
  })
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ event }) => event)
}

/** Events made from the matcher or the rule, when no known event matches. */
function invented(
  group: HookComponent,
  handler: HookHandler,
  known: readonly SimulatedEvent[],
  { place }: ChooseOptions,
): readonly SimulatedEvent[] {
  const [base] = known
  if (base === undefined) return []
  const rule = handler.raw.if
  const byRule = typeof rule === 'string' ? ruleExample(rule, place.workspace) : null
  const isTool = 'tool_name' in base.payload
  const ofRule: SimulatedEvent[] =
    byRule === null || !isTool
      ? []
      : [
          {
            ...base,
            intent: 'invented',
            label: `by the rule ${String(rule)}`,
            payload: { ...base.payload, tool_name: byRule.tool, tool_input: byRule.input },
          },
        ]
  if (subjectOf(base.event, base.payload) === null || known.some((event) => groupFires(group, event)))
    return ofRule
  const subjects = subjectsOf(group.matcher ?? '').filter((subject) => hookMatches(group.matcher, subject))
  return [...ofRule, ...subjects.slice(0, benignMax).map((subject) => withSubject(base, subject))]
}

function withSubject(base: SimulatedEvent, subject: string): SimulatedEvent {
  const field = subjectField(base.event) ?? ''
  const input = field === 'tool_name' ? { tool_input: {} } : {}
  return {
    ...base,
    intent: 'invented',
    label: subject,
    payload: { ...base.payload, [field]: subject, ...input },
  }
}

/** Words that a matcher may be meant for: its names, or its alternatives with all variable parts filled in. */
function subjectsOf(matcher: string): readonly string[] {
  const read = readMatcher(matcher)
  if (read.kind === 'names') return read.names
  return topLevelWays(matcher)
    .map(filledIn)
    .filter((word) => word !== '')
}

function topLevelWays(pattern: string): readonly string[] {
  const ways = ['']
  let depth = 0
  for (const char of pattern) {
    if (char === '(') depth += 1
    if (char === ')') depth -= 1
    if (char === '|' && depth === 0) ways.push('')
    else ways.push(`${ways.pop() ?? ''}${char}`)
  }
  return ways
}

/** Takes the first alternative of every group, innermost first, and one letter for any wildcard. */
function filledIn(way: string): string {
  let text = way
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replace(/\((?:\?:)?([^()|]*)[^()]*\)[*+?]?/, '$1')
  }
  return text
    .replaceAll(/[\^$]/g, '')
    .replaceAll(/\[[^\]]*\][*+?]?|\\[wWdDsS][*+?]?|\.[*+?]?/g, 'x')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/[*+?]/g, '')
}

/** Whether the call of a tool event matches the rule. When unsure it matches, as in the CLI. */
export function ruleFits(rule: string, { payload }: SimulatedEvent): boolean {
  const { tool, pattern } = readRule(rule)
  const name = String(payload.tool_name ?? '')
  const isMeant = covered(tool).includes(name) || (tool.includes('*') && globOf(tool)?.(name) === true)
  if (!isMeant || pattern === null) return isMeant
  const input = payload.tool_input
  if (typeof input !== 'object' || input === null) return true
  const { command, file_path, notebook_path } = input as Readonly<Record<string, unknown>>
  if (typeof command === 'string') return commandFits(pattern, command)
  const path = file_path ?? notebook_path
  return typeof path !== 'string' || pathFits(pattern, path, String(payload.cwd ?? ''))
}

/** An example call that matches the rule, made from its text. null when that is not possible. */
export function ruleExample(rule: string, workspace: string) {
  const { tool, pattern } = readRule(rule)
  if (tool === '' || tool.includes('*')) return null
  const words = (pattern ?? '*').replace(/:\*$/, ' x').replaceAll(/\*+/g, 'x')
  if (tool === 'Bash' || tool === 'PowerShell')
    return { tool, input: { command: words, description: 'by the rule' } }
  const path = words.startsWith('/')
    ? words.replace(/^\/+/, '/')
    : `${workspace}/${words.replace(/^\.\//, '')}`
  return {
    tool,
    input:
      tool === 'NotebookEdit' ? { notebook_path: path, new_source: 'x' } : { file_path: path, content: 'x' },
  }
}

/** The `if` of a handler: one permission rule, `Bash(git push *)`, `Edit(src/**)`, `mcp__memory__*`. */
function readRule(rule: string) {
  const [, tool = rule, pattern] = /^([^(]*)(?:\(([\s\S]*)\))?$/.exec(rule.trim()) ?? []
  return { tool: tool.trim(), pattern: pattern === undefined || pattern === '*' ? null : pattern }
}

/** A rule about editing applies to every editing tool, one about reading to every reading tool. */
function covered(tool: string): readonly string[] {
  if (tool === 'Edit') return ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']
  return tool === 'Read' ? ['Read', 'Grep', 'Glob'] : [tool]
}

/** One matching part of a compound command is enough. `git:*` is the older spelling of `git *`. */
function commandFits(pattern: string, command: string): boolean {
  const parts = command.split(/&&|\|\||[;|\n]/).map((part) => part.trim())
  const isPrefix = pattern.endsWith(':*')
  const words = isPrefix ? pattern.slice(0, -2) : pattern
  const source = `^${words.split('*').map(escapePattern).join('.*')}${isPrefix ? '(?:\\s|$)' : '$'}`
  const compiled = compilePattern(`(?s)${source}`)
  return compiled.kind === 'bad' || parts.some((part) => compiled.pattern.test(part))
}

function pathFits(pattern: string, path: string, cwd: string): boolean {
  const fits = globOf(pattern.replace(/^\/\//, '/').replace(/^\.\//, ''))
  return fits === null || fits(path) || fits(relative(cwd, path))
}
