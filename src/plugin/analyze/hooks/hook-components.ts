import { counted } from '../../../core/counted.ts'
import { didYouMean, nearest } from '../../../core/nearest.ts'
import { componentId } from '../../component-list.ts'
import { type ComponentNames, createComponentNames } from '../component-names.ts'
import type { HookComponent } from '../contract.ts'
import { describeType } from '../describe-type.ts'
import { isRootUnquoted } from '../files/plugin-references.ts'
import { isServerTool, knownTools } from '../known-tools.ts'
import type { PluginSource } from '../manifest/read-manifest.ts'
import { hookMatches, readMatcher } from '../matcher.ts'
import { about, type Notes } from '../notes.ts'
import { type HookEventFacts, hookEvents } from './hook-events.ts'
import { type HookGroup, hookFiles, noteInvalid, type PluginHookFile, readGroup } from './hook-files.ts'
import { noteHandler } from './note-handler.ts'

/** Every matcher group of every event that Claude Code loads, with or without a matcher. */
export function hookComponents(plugin: PluginSource): readonly HookComponent[] {
  const { notes } = plugin
  const nameOf = createComponentNames()
  const found: HookComponent[] = []
  for (const file of hookFiles(plugin))
    for (const [event, groups] of Object.entries(file.events)) {
      const facts = hookEvents.get(event)
      if (facts === undefined) noteUnknownEvent(event, file, notes)
      else if (!Array.isArray(groups)) noteNoList(event, groups, file, notes)
      else
        for (const [index, group] of groups.entries()) {
          const read = readGroup(group, [event, index], file, notes)
          if (read === null) continue
          const component = componentOf(read, event, facts, file, plugin.name, nameOf)
          found.push(component)
          noteGroup(component, facts, plugin)
        }
    }
  noteDuplicates(found, notes)
  noteUnquoted(found, notes)
  return found
}

function noteUnknownEvent(event: string, file: PluginHookFile, notes: Notes): void {
  const near = nearest(event, hookEvents.keys())
  notes.add('HOOK_EVENT_UNKNOWN', {
    message: `there is no event ${event}; its hooks never run, and older versions of Claude Code, such as 2.1.197, reject the whole file`,
    suggestion: near === undefined ? 'Remove it.' : `Did you mean ${near}?`,
    path: file.path,
    line: file.lineOf([event]),
  })
}

function noteNoList(event: string, groups: unknown, file: PluginHookFile, notes: Notes): void {
  noteInvalid([event, 0], file, file.lineOf([event]), notes, {
    isHarmless: groups === null,
    message: `${event} is ${describeType(groups)} instead of a list of groups`,
    suggestion: `Write "${event}": [ { "hooks": […] } ].`,
  })
}

const mostDescribed = 200

function componentOf(
  { matcher, handlers, line }: HookGroup,
  event: string,
  facts: HookEventFacts,
  { path }: PluginHookFile,
  plugin: string,
  nameOf: ComponentNames,
): HookComponent {
  const action = handlers.map((handler) => handler.action).join('; ')
  return {
    name: nameOf(matcher === null ? event : `${event}::${matcher === '' ? '*' : matcher}`),
    cli_name: matcher === null || matcher === '' ? event : `${event}:${matcher}`,
    plugin,
    path,
    line,
    description: `${event}: ${action}`.slice(0, mostDescribed),
    event,
    matcher,
    matching_tools: facts.matches === 'tool_name' ? matchingTools(matcher) : [],
    expected_behavior: hookBehavior(action),
    handlers,
  }
}

function noteGroup(component: HookComponent, facts: HookEventFacts, plugin: PluginSource): void {
  if (facts.since !== undefined)
    plugin.notes.add('HOOK_EVENT_NEW', {
      message: `${component.event} is known since Claude Code ${facts.since}; versions such as 2.1.197 reject every hook of the file because of it`,
      ...about('hook', component),
    })
  noteMatcher(component, facts, plugin.notes)
  for (const handler of component.handlers) noteHandler(handler, component, facts, plugin)
}

/** One finding per file: what is done in one command is mostly done in all. */
function noteUnquoted(components: readonly HookComponent[], notes: Notes): void {
  const unquoted = components.flatMap((component) =>
    component.handlers
      .filter(
        ({ raw }) => typeof raw.command === 'string' && raw.args === undefined && isRootUnquoted(raw.command),
      )
      .map(() => component),
  )
  for (const [path, found] of Map.groupBy(unquoted, (component) => component.path))
    notes.add('HOOK_PATH_UNQUOTED', {
      message: `${counted(found.length, 'command')} ${found.length === 1 ? 'names' : 'name'} \${CLAUDE_PLUGIN_ROOT} without quotes, so the shell splits a path with a blank and the hook does not start`,
      suggestion: `Write "\${CLAUDE_PLUGIN_ROOT}/…" in double quotes, or use command with args.`,
      components: [...new Set(found.map(({ name }) => componentId('hook', name)))],
      path,
      line: found[0]?.line,
    })
}

/** Identical handlers run once, however often they are written. */
function noteDuplicates(components: readonly HookComponent[], notes: Notes): void {
  const keyed = components.map((component) => ({
    component,
    key: JSON.stringify([component.event, component.matcher ?? '', component.handlers.map(({ raw }) => raw)]),
  }))
  for (const group of Map.groupBy(keyed, ({ key }) => key).values()) {
    const [first, ...others] = group.map(({ component }) => component)
    for (const { name, path, line, event } of others)
      notes.add('HOOK_DUPLICATE', {
        message: `the same hook of ${event} is written twice; Claude Code runs it once`,
        components: [componentId('hook', first?.name ?? name), componentId('hook', name)],
        path,
        line,
      })
  }
}

type Behavior = HookComponent['expected_behavior']

/** In this order; the first match wins. */
const words: readonly (readonly [Behavior, readonly string[]])[] = [
  ['block', ['deny', 'block', 'reject', 'forbid', 'prevent']],
  ['allow', ['approve', 'allow', 'permit', 'accept']],
  ['modify', ['modify', 'update', 'change', 'alter']],
  ['log', ['log', 'track', 'record', 'audit']],
  ['context', ['context', 'load', 'initialize', 'setup']],
]

/** The likely purpose of a hook, guessed from the words in its handlers. */
export function hookBehavior(action: string): Behavior {
  const written = new Set(
    action
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z]+/),
  )
  return forms.find(([, known]) => !known.isDisjointFrom(written))?.[0] ?? 'unknown'
}

const endings = ['s', 'ed', 'd', 'ing', 'er', 'or']

/** `denies`, `blocked`, `logging`, `updater`; not `login`. */
const forms = words.map(([behavior, stems]) => [behavior, new Set(stems.flatMap(formsOf))] as const)

function formsOf(stem: string): readonly string[] {
  const root = stem.replace(/[ey]$/, '')
  const bases = [stem, root, `${root}${root.at(-1)}`]
  return [
    stem,
    ...bases.flatMap((base) => endings.map((ending) => base + ending)),
    `${root}ies`,
    `${root}ied`,
    `${root}ier`,
  ]
}

/** Tools that a matcher of a tool event matches: `*` alone for all, a name or a glob for those of servers. */
export function matchingTools(matcher: string | null): readonly string[] {
  const read = readMatcher(matcher)
  switch (read.kind) {
    case 'all':
      return ['*']
    case 'names':
      return [...new Set(read.names)]
    case 'broken':
      return []
    case 'pattern': {
      const fitting = knownTools.filter((tool) => hookMatches(matcher, tool))
      if (fitting.length === knownTools.length) return ['*']
      return fitting.length > 0 ? fitting : globOf(matcher ?? '')
    }
  }
}

/** `^mcp__memory__.*$` is `mcp__memory__*`; empty when the pattern is not this simple. */
function globOf(pattern: string): readonly string[] {
  const simple = pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replaceAll(/\.[*+]/g, '*')
  return /^[\w*:-]+$/.test(simple) ? [simple] : []
}

/** Reports a matcher that is ignored, invalid, or matches no known value. */
function noteMatcher(component: HookComponent, facts: HookEventFacts, notes: Notes): void {
  const { matcher, event } = component
  const at = about('hook', component)
  const read = readMatcher(matcher)
  if (read.kind === 'all') return
  if (facts.matches === null) {
    notes.add('HOOK_MATCHER_IGNORED', {
      message: `${event} ignores matchers; the group fires every time, not only for '${matcher}'`,
      ...at,
    })
    return
  }
  if (read.kind === 'broken') {
    notes.add('HOOK_MATCHER_INVALID', {
      message: `the matcher '${matcher}' matches nothing: ${read.why}`,
      ...at,
    })
    return
  }
  const known = facts.values ?? (facts.matches === 'tool_name' ? knownTools : null)
  if (known === null) return
  if (read.kind === 'names') {
    for (const name of read.names.slice(0, mostNames)) noteName(name, known, facts, at, notes)
    return
  }
  const couldBeServer = facts.matches === 'tool_name' && /mcp/i.test(matcher ?? '')
  if (!couldBeServer && !known.some((value) => hookMatches(matcher, value)))
    notes.add('HOOK_MATCHER_UNKNOWN', {
      message: `the matcher '${matcher}' matches ${noneOf(facts, known)}`,
      ...at,
    })
}

/** More than there are tools. */
const mostNames = 200

function noteName(
  name: string,
  known: readonly string[],
  facts: HookEventFacts,
  at: ReturnType<typeof about>,
  notes: Notes,
): void {
  if (facts.matches === 'tool_name' && isServerTool(name)) {
    if (/^mcp__.+__./.test(name)) return
    notes.add('HOOK_MATCHER_UNKNOWN', {
      message: `'${name}' alone matches no tool: the name of a tool follows after two underscores`,
      suggestion: `Write '${name.replace(/_+$/, '')}__.*' for all tools of the server.`,
      ...at,
    })
    return
  }
  if (known.includes(name)) return
  notes.add('HOOK_MATCHER_UNKNOWN', {
    message: `'${name}' is ${noneOf(facts, known)}`,
    suggestion: didYouMean(name, known, 'Check the spelling; matchers are case-sensitive.'),
    ...at,
  })
}

function noneOf({ matches, values }: HookEventFacts, known: readonly string[]): string {
  return values === undefined
    ? 'no tool of Claude Code'
    : `not one of the values of ${matches}: ${known.join(', ')}`
}
