import { resolve } from 'node:path'
import type { HookEvent, SessionSource, ToolAction, ToolOutcome } from '../../src/core/hook-event.ts'
import type { Facts, History, LedgerEntry } from '../../src/guard-engine/contract.ts'
import { decide, wantedFacts } from '../../src/guard-engine/decide.ts'
import { callFold } from '../../src/guard-engine/history/calls.ts'
import { editFold } from '../../src/guard-engine/history/edits.ts'
import { historyFold } from '../../src/guard-engine/history/index.ts'
import { defaultSettings, type Settings } from '../../src/guard-engine/settings/settings.ts'
import { storeEvent } from '../../src/guard-engine/store-event.ts'
import { countEdits } from '../../src/rules/count-edits.ts'
import { detectLoops } from '../../src/rules/detect-loops.ts'

/** One line of the corpus of loops: a short session, and which of its steps must be answered with a warning. */
export interface LoopCase {
  readonly name: string
  readonly steps: readonly LoopStep[]
  /** Number of the step, from 1, and what the warning says; every other step must be silent. */
  readonly warns: readonly (readonly [step: number, part: string])[]
  readonly start?: { readonly changes: string }
  readonly noTree?: boolean
  readonly enabled?: boolean
  readonly editThreshold?: number
  readonly repeatThreshold?: number
  readonly resetOnNewTask?: boolean
}

/** What is done, how it ended (`fails`, `unknown` or `ok` with the output), and what it left behind. */
export interface LoopStep {
  readonly run?: string
  readonly edit?: string
  readonly write?: string
  readonly patch?: readonly string[]
  readonly read?: string
  readonly tool?: string
  readonly input?: unknown
  readonly start?: SessionSource
  /** Tests were seen green. */
  readonly green?: true
  /** Open tasks of the plan from here on. */
  readonly plan?: readonly string[]
  readonly fails?: string
  readonly unknown?: string
  readonly ok?: string
  /** Content of the edited file afterwards; new content when it is absent. */
  readonly hash?: string | null
  /** A file that the shell command changes, with `hash` as its content afterwards. */
  readonly touches?: string
  /** The working directory, relative to the project. */
  readonly cwd?: string
  /** A shell command leaves the tree in this state. */
  readonly changes?: string
  readonly change?: 'update' | 'delete'
  readonly old?: string
  readonly new?: string
  readonly agent?: string
  readonly description?: string
  readonly timeout?: number
}

const root = '/repo'

/** Plays a case as the host would: facts are looked up only when a rule wants them, the event is stored, then judged. */
export function playLoopCase(one: LoopCase): readonly { readonly step: number; readonly text: string }[] {
  const settings = settingsFor(one)
  const files = new Map<string, string | null>()
  let shellState = one.start?.changes ?? ''
  let plan: readonly string[] = []
  let edits = editFold.initial
  let calls = callFold.initial
  const warned: string[] = []
  const said: { step: number; text: string }[] = []
  const history = (): History => ({
    ...historyFold.initial,
    edits,
    calls,
    session: { ...historyFold.initial.session, warned: [...warned] },
  })
  const append = (entry: LedgerEntry): void => {
    edits = editFold.apply(edits, entry)
    calls = callFold.apply(calls, entry)
  }

  for (const [index, step] of one.steps.entries()) {
    const at = new Date(1_760_000_000_000 + index * 1000).toISOString()
    if (step.green === true) {
      append({ kind: 'note', id: `n${index}`, at, note: greenNote(at) })
      continue
    }
    const event = eventOf(step, index)
    plan = step.plan ?? plan
    shellState = step.changes ?? shellState
    const edited = step.fails === undefined ? editedPaths(step).map((path) => resolve(root, path)) : []
    for (const path of edited) files.set(path, step.hash === undefined ? `h${index}` : step.hash)
    const scene = {
      event,
      settings,
      traits: {},
      world: nowhere,
      nowMs: Date.parse(at),
    }
    const wanted = wantedFacts(rules, { ...scene, history: history() })
    const tree = one.noTree === true ? null : JSON.stringify([...files].sort().concat([['', shellState]]))
    const facts: Facts = {
      protected: null,
      tree: wanted.has('tree') ? tree : null,
      edited: wanted.has('edited') ? edited.map((path) => ({ path, hash: files.get(path) ?? null })) : [],
      project:
        wanted.has('project') || (step.edit === undefined && step.plan !== undefined)
          ? {
              entries: [],
              truncated: false,
              commands: [],
              plan: { total: plan.length, done: 0, open: plan },
            }
          : null,
      verify: [],
      seal: null,
      tests: null,
    }
    append({ kind: 'event', id: `e${index}`, at, event: storeEvent(event, facts, noSecrets) })
    const decided = decide(rules, { ...scene, history: history(), facts })
    for (const note of decided.notes) if (note.kind === 'warned') warned.push(note.about)
    if (decided.context !== null) said.push({ step: index + 1, text: decided.context })
  }
  return said
}

const rules = [countEdits, detectLoops]
const noSecrets = { text: (text: string) => text, value: <T>(value: T): T => value }
const nowhere = {
  home: '/home/user',
  platform: 'linux',
  env: {},
  resolve: (path: string) => ({ real: path, kind: 'missing', id: null, links: 0 }) as const,
  list: () => null,
  readText: () => null,
  own: [],
}

function settingsFor(one: LoopCase): Settings {
  const { enabled, editThreshold, repeatThreshold, resetOnNewTask } = one
  return {
    ...defaultSettings,
    loopDetection: {
      enabled: enabled ?? true,
      editThreshold: editThreshold ?? 5,
      repeatThreshold: repeatThreshold ?? 3,
      resetOnNewTask: resetOnNewTask ?? true,
    },
  }
}

function eventOf(step: LoopStep, index: number): HookEvent {
  const base = {
    agent: 'claude-code',
    session: 's',
    agentId: step.agent ?? null,
    agentType: null,
    promptId: null,
    cwd: resolve(root, step.cwd ?? ''),
    root,
  } as const
  if (step.start !== undefined) return { ...base, kind: 'session_start', source: step.start }
  const { tool, action, input } = callOf(step)
  if (action === null) return { ...base, kind: 'other', name: 'plan' }
  return {
    ...base,
    kind: 'tool_after',
    call: { id: `call${index}`, tool, action, input },
    outcome: outcomeOf(step),
  }
}

function callOf(step: LoopStep): { tool: string; action: ToolAction | null; input: unknown } {
  const { run, edit, write, patch, read, tool, description, timeout } = step
  if (run !== undefined)
    return {
      tool: 'Bash',
      action: { kind: 'shell', command: run, background: false, language: 'bash' },
      input: { command: run, description, timeout },
    }
  if (edit !== undefined) {
    const texts = { old: step.old ?? `a${step.hash}`, new: step.new ?? `b${step.hash}` }
    return {
      tool: 'Edit',
      action: { kind: 'edit', path: edit, edits: [texts] },
      input: { file_path: edit, old_string: texts.old, new_string: texts.new },
    }
  }
  if (write !== undefined)
    return {
      tool: 'Write',
      action: { kind: 'write', path: write, content: null },
      input: { file_path: write, content: `text ${step.hash}` },
    }
  if (patch !== undefined) {
    const files = patch.map((path) => ({ path, change: step.change ?? 'update' }))
    return { tool: 'apply_patch', action: { kind: 'patch', text: '', files }, input: files }
  }
  if (read !== undefined)
    return { tool: 'Read', action: { kind: 'read', path: read }, input: { file_path: read } }
  if (tool !== undefined) return { tool, action: { kind: 'unknown', server: null }, input: step.input }
  return { tool: '', action: null, input: null }
}

function outcomeOf({ fails, unknown, ok }: LoopStep): ToolOutcome {
  const kind = fails !== undefined ? 'failure' : unknown !== undefined ? 'unknown' : 'success'
  return {
    kind,
    exitCode: kind === 'unknown' ? null : kind === 'failure' ? 1 : 0,
    output: fails ?? unknown ?? ok ?? '',
    interrupted: false,
    timedOut: false,
    background: false,
  }
}

function editedPaths({ edit, write, patch, touches }: LoopStep): readonly string[] {
  return [edit, write, touches, ...(patch ?? [])].filter((path) => path !== undefined)
}

function greenNote(at: string) {
  return {
    kind: 'evidence',
    evidence: { kind: 'test', command: 'npm test', exitCode: 0, treeHash: 't', startedAt: at, durationMs: 1 },
    by: 'agent',
    callId: null,
  } as const
}
