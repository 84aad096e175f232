import { nearest } from '../../../core/nearest.ts'
import { componentId } from '../../component-list.ts'
import { createNames } from '../component-names.ts'
import type { HookComponent } from '../contract.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import { knownTools } from '../known-tools.ts'
import type { PluginManifest } from '../manifest/read-manifest.ts'
import { hookMatches, readMatcher } from '../matcher.ts'
import type { Notes } from '../notes.ts'
import { typeWord } from '../type-word.ts'
import { type HookEventFacts, hookEvents } from './hook-events.ts'
import { type HookGroup, hookFiles, noteInvalid, type PluginHookFile, readGroup } from './hook-files.ts'
import { noteHandler } from './note-handler.ts'
import { noteMatcher } from './note-matcher.ts'

/** Every matcher group of every event that Claude Code loads, with or without a matcher. */
export function hookComponents(
  files: PluginFiles,
  manifest: PluginManifest,
  plugin: string,
  notes: Notes,
): readonly HookComponent[] {
  const nameOf = createNames()
  const found: HookComponent[] = []
  for (const file of hookFiles(files, manifest, notes))
    for (const [event, groups] of Object.entries(file.events)) {
      const facts = hookEvents.get(event)
      if (facts === undefined) noteUnknownEvent(event, file, notes)
      else if (!Array.isArray(groups)) noteNoList(event, groups, file, notes)
      else
        for (const [index, group] of groups.entries()) {
          const read = readGroup(group, [event, index], file, notes)
          if (read !== null) found.push(componentOf(read, event, facts, file, plugin, nameOf))
        }
    }
  for (const component of found) noteGroup(component, files, notes)
  noteDuplicates(found, notes)
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
    message: `${event} is ${typeWord(groups)} instead of a list of groups`,
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
  nameOf: ReturnType<typeof createNames>,
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

function noteGroup(component: HookComponent, files: PluginFiles, notes: Notes): void {
  const facts = hookEvents.get(component.event)
  if (facts === undefined) return
  const { event, path, line } = component
  const components = [componentId('hook', component.name)]
  if (facts.since !== undefined)
    notes.add('HOOK_EVENT_NEW', {
      message: `${event} is known since Claude Code ${facts.since}; versions such as 2.1.197 reject every hook of the file because of it`,
      suggestion: 'Keep it in a file of its own, or say which version the plugin needs.',
      components,
      path,
      line,
    })
  noteMatcher(component, facts, notes)
  for (const handler of component.handlers) noteHandler(handler, component, facts, files, notes)
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
        suggestion: 'Remove one of them.',
        components: [componentId('hook', first?.name ?? name), componentId('hook', name)],
        path,
        line,
      })
  }
}

type Behavior = HookComponent['expected_behavior']

/** In this order; the first that is met wins. */
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

/** Tools a matcher of a tool event fits: `*` alone for all of them, a name or a glob for those of servers. */
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
