import { hookCodecs } from '../../src/agents/hook-codecs.ts'
import type { HookEvent, HookEventDetail, ToolOutcome } from '../../src/core/hook-event.ts'
import type { DeclaredCommand, Facts, Note } from '../../src/guard-engine/contract.ts'
import { type Decided, decide, wantedFacts } from '../../src/guard-engine/decide.ts'
import { noFacts, storedFacts } from '../../src/guard-engine/facts/gather-facts.ts'
import { historyFold } from '../../src/guard-engine/history/index.ts'
import { defaultSettings, type Settings } from '../../src/guard-engine/settings/settings.ts'
import { storeEvent } from '../../src/guard-engine/store-event.ts'
import type { Rule, Scene } from '../../src/rules/contract.ts'
import type { World } from '../../src/shell/world.ts'

export const storyRoot = '/home/dev/app'

/** A world in which every path is where it says. */
const plainWorld: World = {
  home: '/home/me',
  platform: 'linux',
  env: {},
  own: [],
  resolve: (path) => ({ real: path.replace(/(?<=.)\/$/, ''), kind: 'missing', id: null, links: 0 }),
  list: () => null,
  readText: () => null,
}

export function declaredAs(command: string, change: Partial<DeclaredCommand> = {}): DeclaredCommand {
  return { command, kind: 'test', source: 'AGENTS.md', explicit: true, ...change }
}

export type StoryEvent = HookEventDetail & Partial<Omit<HookEvent, keyof HookEventDetail>>

/** Events through rules and history, as the host does it, without a disk: facts are what the story says they are. */
export function guardStory(
  rules: readonly Rule[],
  change: {
    readonly checklist?: Partial<Settings['checklist']>
    /** Texts of files, by their path below the root. */
    readonly files?: Map<string, string>
  } = {},
) {
  const settings: Settings = {
    ...defaultSettings,
    checklist: { ...defaultSettings.checklist, ...change.checklist },
  }
  let history = historyFold.initial
  let count = 0
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const world: World = {
    ...plainWorld,
    readText: (path) => change.files?.get(path.slice(storyRoot.length + 1)) ?? null,
    list: (directory) => {
      const inside = [...(change.files?.keys() ?? [])].map((path) => `${storyRoot}/${path}`)
      const below = inside.filter((path) => path.startsWith(`${directory}/`))
      return below.length === 0
        ? null
        : [...new Set(below.map((path) => path.slice(directory.length + 1).replace(/\/.*/, '')))]
    },
  }
  /** The content of the disk. */
  const disk: { -readonly [Name in keyof Facts]: Facts[Name] } = { ...noFacts }

  const stamp = (): { readonly id: string; readonly at: string } => {
    count += 1
    nowMs += 1_000
    return { id: `e_${count}`, at: new Date(nowMs).toISOString() }
  }

  const send = (happening: StoryEvent): Decided & { readonly wanted: readonly string[] } => {
    const event: HookEvent = {
      agent: 'claude-code',
      session: 's1',
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: storyRoot,
      root: storyRoot,
      ...happening,
    }
    const traits = Object.entries(hookCodecs).find(([agent]) => agent === event.agent)?.[1].traits ?? {}
    const base: Omit<Scene, 'facts'> = { event, traits, history, settings, world, nowMs }
    const wanted = [...wantedFacts(rules, base)]
    const facts: Facts = { ...noFacts, ...Object.fromEntries(wanted.map((name) => [name, disk[name]])) }
    const { id, at } = stamp()
    const redactor = { text: (text: string) => text, value: (value: never) => value }
    const stored = storeEvent(event, storedFacts(facts), redactor)
    history = historyFold.apply(history, { kind: 'event', id, at, event: stored })
    const decided = decide(rules, { ...base, history, facts })
    const { notes, ...said } = decided
    history = historyFold.apply(history, {
      kind: 'decision',
      ...stamp(),
      of: id,
      ...said,
      notes,
      engineMs: 0,
    })
    return { ...decided, wanted }
  }

  return {
    disk,
    settings,
    send,
    get history() {
      return history
    },
    /** Sets the clock. */
    at(time: string): void {
      nowMs = Date.parse(time)
    },
    note(note: Note): void {
      history = historyFold.apply(history, { kind: 'note', ...stamp(), note })
    },
    /** Starts a session of a project with these commands. */
    start(commands: readonly DeclaredCommand[], tree = 'T0') {
      disk.project = { entries: [], truncated: false, commands, plan: disk.project?.plan ?? null }
      disk.tree = tree
      return send({ kind: 'session_start', source: 'startup' })
    },
    edit(path: string, tree: string, who: Partial<HookEvent> = {}) {
      const call = {
        id: `edit${count}`,
        tool: 'Edit',
        action: { kind: 'edit', path: `${storyRoot}/${path}`, edits: [] },
        input: { file_path: path },
      } as const
      send({ ...who, kind: 'tool_before', call })
      disk.tree = tree
      return send({ ...who, kind: 'tool_after', call, outcome: outcomeOf({}) })
    },
    /** One shell call from before to after. */
    run(command: string, outcome: Partial<ToolOutcome> = {}, how: ShellHow = {}) {
      const call = {
        id: how.id === undefined ? `bash${count}` : how.id,
        tool: 'Bash',
        action: {
          kind: 'shell',
          command,
          background: how.background ?? false,
          language: how.language ?? 'bash',
        },
        input: { command },
      } as const
      const common = { cwd: how.cwd ?? storyRoot, ...how.event }
      send({ ...common, kind: 'tool_before', call })
      if (how.treeAfter !== undefined) disk.tree = how.treeAfter
      return send({ ...common, kind: 'tool_after', call, outcome: outcomeOf(outcome) })
    },
    stop(change: Partial<HookEvent & { readonly kind: 'stop' }> = {}) {
      return send({ again: false, lastMessage: null, background: false, ...change, kind: 'stop' })
    },
  }
}

export interface ShellHow {
  readonly cwd?: string
  readonly id?: string | null
  readonly background?: boolean
  readonly language?: 'bash' | 'powershell'
  readonly treeAfter?: string
  readonly event?: Partial<Omit<HookEvent, keyof HookEventDetail>>
}

function outcomeOf(change: Partial<ToolOutcome>): ToolOutcome {
  return {
    kind: 'success',
    exitCode: null,
    output: '',
    interrupted: false,
    timedOut: false,
    background: false,
    ...change,
  }
}
