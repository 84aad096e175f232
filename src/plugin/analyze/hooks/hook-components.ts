import { nearest } from '../../../core/nearest.ts'
import { componentId } from '../../component-list.ts'
import { createNames } from '../component-names.ts'
import type { HookComponent } from '../contract.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import type { Manifest } from '../manifest/read-manifest.ts'
import type { Notes } from '../notes.ts'
import { typeWord } from '../type-word.ts'
import { hookBehavior } from './hook-behavior.ts'
import { type HookEventFacts, hookEvents } from './hook-events.ts'
import { type HookFile, hookFiles } from './hook-files.ts'
import { matchingTools } from './matching-tools.ts'
import { noteHandler } from './note-handler.ts'
import { noteMatcher } from './note-matcher.ts'
import { type Group, noteInvalid, readGroup } from './read-group.ts'

/** Every matcher group of every event that Claude Code loads, with or without a matcher. */
export function hookComponents(
  files: PluginFiles,
  manifest: Manifest,
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

function noteUnknownEvent(event: string, file: HookFile, notes: Notes): void {
  const near = nearest(event, hookEvents.keys())
  notes.add('HOOK_EVENT_UNKNOWN', {
    message: `there is no event ${event}; its hooks never run, and older versions of Claude Code, such as 2.1.197, reject the whole file`,
    suggestion: near === undefined ? 'Remove it.' : `Did you mean ${near}?`,
    path: file.path,
    line: file.lineOf([event]),
  })
}

function noteNoList(event: string, groups: unknown, file: HookFile, notes: Notes): void {
  noteInvalid([event, 0], file, file.lineOf([event]), notes, {
    message: `${event} is ${typeWord(groups)} instead of a list of groups`,
    suggestion: `Write "${event}": [ { "hooks": […] } ].`,
  })
}

const mostDescribed = 200

function componentOf(
  { matcher, handlers, line }: Group,
  event: string,
  facts: HookEventFacts,
  { path }: HookFile,
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

/** Handlers that are the same to the letter run once, however often they stand there. */
function noteDuplicates(components: readonly HookComponent[], notes: Notes): void {
  const keyed = components.map((component) => ({
    component,
    key: JSON.stringify([component.event, component.matcher ?? '', component.handlers.map(({ raw }) => raw)]),
  }))
  for (const group of Map.groupBy(keyed, ({ key }) => key).values()) {
    const [first, ...others] = group.map(({ component }) => component)
    for (const { name, path, line, event } of others)
      notes.add('HOOK_DUPLICATE', {
        message: `the same hook of ${event} stands there twice; Claude Code runs it once`,
        suggestion: 'Remove one of them.',
        components: [componentId('hook', first?.name ?? name), componentId('hook', name)],
        path,
        line,
      })
  }
}
