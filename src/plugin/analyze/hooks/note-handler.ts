import { nearest } from '../../../core/nearest.ts'
import { componentId } from '../../component-list.ts'
import type { HookComponent, HookHandler } from '../contract.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import type { Notes } from '../notes.ts'
import type { Add } from './add.ts'
import { handlerKeys, isHandlerType } from './handler-fields.ts'
import type { HookEventFacts } from './hook-events.ts'
import { noteOutput } from './note-output.ts'
import { noteScripts } from './note-scripts.ts'

/** What the files alone tell of a handler that Claude Code loads. */
export function noteHandler(
  handler: HookHandler,
  component: HookComponent,
  facts: HookEventFacts,
  files: PluginFiles,
  notes: Notes,
): void {
  const { event, path, line, name } = component
  const components = [componentId('hook', name)]
  const add: Add = (code, message, suggestion, severity) =>
    notes.add(code, {
      message,
      suggestion,
      components,
      path,
      line,
      ...(severity !== undefined && { severity }),
    })
  noteWhetherRuns(handler, event, facts, add)
  noteTimeout(handler, event, add)
  noteKeys(handler, add)
  const scripts = handler.type === 'command' ? noteScripts(handler, files, add) : []
  noteOutput([handler.action, ...scripts], handler, event, facts, add)
}

function noteWhetherRuns({ type, raw }: HookHandler, event: string, facts: HookEventFacts, add: Add): void {
  if (raw.if !== undefined && !facts.takesCondition)
    add(
      'HOOK_NEVER_RUNS',
      `a handler of ${event} has an if, and only tool events take one, so that it never runs`,
      'Remove the if, and look at the input in the hook itself.',
    )
  if (!facts.takes.some((taken) => taken === type))
    add(
      'HOOK_NEVER_RUNS',
      `${event} takes no handlers of type ${type}, so that it never runs`,
      `Use one of ${facts.takes.join(', ')}.`,
    )
}

/** Nobody waits so long; most likely milliseconds are meant. */
const longestSeconds = 3_600

function noteTimeout({ timeout_seconds: seconds }: HookHandler, event: string, add: Add): void {
  if (seconds === undefined) return
  if (seconds > longestSeconds)
    add(
      'HOOK_TIMEOUT',
      `the time limit is ${seconds} seconds`,
      `Write seconds: ${Math.max(1, Math.round(seconds / 1_000))}.`,
    )
  if (event === 'SessionEnd' && seconds > 1.5)
    add(
      'HOOK_TIMEOUT',
      'at the end of a session all hooks of plugins have 1.5 seconds together, whatever stands here',
      'Do less there, or start a program that goes on by itself.',
      'info',
    )
}

function noteKeys({ type, raw }: HookHandler, add: Add): void {
  if (!isHandlerType(type)) return
  if (raw.once !== undefined)
    add('HOOK_FIELD_IGNORED', 'once counts only in the frontmatter of a skill', 'Remove it.', 'info')
  if (raw.onFailure !== undefined)
    add(
      'HOOK_FIELD_IGNORED',
      'Claude Code before 2.1.295 ignores onFailure: a hook that fails lets the call pass there',
      'Answer with exit code 2 whenever the hook itself fails.',
      'info',
    )
  const known = handlerKeys(type)
  for (const key of Object.keys(raw).filter((each) => !known.includes(each))) {
    const near = nearest(key, known)
    add(
      'HOOK_FIELD_IGNORED',
      `a ${type} handler has no key '${key}'`,
      near === undefined ? 'Remove it.' : `Did you mean '${near}'?`,
      near === undefined ? 'info' : 'warning',
    )
  }
}
