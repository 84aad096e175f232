import { asObject, defined } from '../../core/json-fields.ts'
import type { Analysis, HookComponent } from '../analyze/contract.ts'
import { componentId } from '../component-list.ts'
import { handlerFires } from './choose-events.ts'
import type { HookDecision, HookEffect, SimulatedEvent } from './contract.ts'
import { whyNeverStarted } from './event-effects.ts'
import { createFindingLog } from './finding-log.ts'
import { exampleEvent, type FoundExample, type HookExample, readHookExamples } from './hook-examples.ts'
import { type LabNames, withoutPlaces } from './lab-place.ts'
import { eachAtMost, inPlace, type LabRun } from './lab-run.ts'
import { openLab } from './open-lab.ts'
import { simulatedEvents } from './simulated-events.ts'
import { type HookGroupReport, tryGroup } from './try-group.ts'
import { tryHandler, whyNotTestable } from './try-handler.ts'

export interface TryHooksOptions {
  /** The caller's environment; a hook gets only PATH and similar variables of it, and no secrets. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  /** A directory that is copied as the workspace. Default: a small built-in project. */
  readonly workspace?: string
  /** Maximum wait for one answer; three times as long for a hook with a `timeout`. Default: ten seconds. */
  readonly maxTimeoutMs?: number
  /** Also try actions that a guard should refuse: for hooks that seem to be guards (default), for all, or for none. */
  readonly attacks?: LabRun['attacks']
  /** Events at a time. Default: two. */
  readonly concurrency?: number
  readonly variables?: Readonly<Record<string, string>>
}

/** The result of trying all hooks of a plugin offline. Deterministic except for durations. */
export type HookLabReport = Awaited<ReturnType<typeof tryHooks>>

/**
 * Starts every hook of a plugin that can be tried without Claude Code, with simulated events, and reports how Claude Code would
 * treat each answer. The plugin is copied first, every event has its own home and workspace, and no process of a hook survives.
 * Throws GantryError for invalid examples and when it is interrupted.
 */
export async function tryHooks(analysis: Analysis, options: TryHooksOptions) {
  const examples = readHookExamples(analysis.plugin_path)
  using lab = await openLab(analysis, defined({ host: options.env, workspace: options.workspace }))
  const log = createFindingLog()
  const labRun: LabRun = {
    lab,
    log,
    names: namesOf(analysis),
    host: options.env,
    variables: options.variables ?? {},
    userConfig: defaultsOf(analysis.manifest),
    pluginPath: analysis.plugin_path,
    maxTimeoutMs: options.maxTimeoutMs ?? 10_000,
    attacks: options.attacks ?? 'when_said',
    concurrency: options.concurrency ?? 2,
    signal: options.signal ?? new AbortController().signal,
  }
  const hooks = analysis.components.hooks.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const tried: HookGroupReport[] = []
  // One after the other: changes in the plugin must be attributed to the hook that made them.
  for (const group of hooks.filter(isOfStart)) tried.push(await tryGroup(group, labRun))
  await startSession(hooks, labRun)
  for (const group of hooks.filter((each) => !isOfStart(each))) tried.push(await tryGroup(group, labRun))
  const groups = tried.toSorted((a, b) => (a.component < b.component ? -1 : 1))
  noteToothless(groups, hooks, labRun)
  const results = await eachAtMost(labRun, examples, (example) => tryExample(example, hooks, labRun))
  const findings = log.findings()
  const handlers = groups.flatMap((group) => group.handlers)
  return {
    schema_version: 1,
    plugin_name: analysis.plugin_name,
    /** By the name of their component. */
    groups,
    examples: results,
    findings,
    summary: {
      groups: groups.length,
      handlers: handlers.length,
      tried_handlers: handlers.filter(({ not_testable }) => not_testable === null).length,
      events: handlers.flatMap(({ trials }) => trials).filter(({ fires }) => fires).length,
      examples_passed: results.filter(({ passed }) => passed).length,
      examples_failed: results.filter(({ passed }) => !passed).length,
      errors: findings.filter(({ severity }) => severity === 'error').length,
      warnings: findings.filter(({ severity }) => severity === 'warning').length,
    },
  }
}

function isOfStart({ event }: HookComponent): boolean {
  return event === 'SessionStart' || event === 'Setup'
}

/** Runs the hooks of SessionStart once, because other hooks may need what they prepare. */
async function startSession(hooks: readonly HookComponent[], labRun: LabRun): Promise<void> {
  const { lab, names } = labRun
  if (!hooks.some(({ event }) => event === 'SessionStart')) return
  const place = await lab.newPlace('SessionStart')
  const [event] = simulatedEvents('SessionStart', place, names)
  if (event === undefined) return
  for (const group of hooks.filter((each) => each.event === 'SessionStart'))
    for (const { handler } of firingHandlers(group, event))
      await tryHandler(handler, event, { ...labRun, place })
  // What they write into the plugin is already reported.
  lab.changesInPlugin()
  lab.beginWith(place)
}

/** Guards that refuse nothing together: each may be meant for something else. */
function noteToothless(groups: readonly HookGroupReport[], hooks: readonly HookComponent[], { log }: LabRun) {
  const guards = groups.filter(({ attacks }) => attacks.tried > 0)
  const first = hooks.find(({ name }) => componentId('hook', name) === guards[0]?.component)
  if (first === undefined || guards.some(({ attacks }) => attacks.refused > 0)) return
  const count = guards.reduce((sum, { attacks }) => sum + attacks.tried, 0)
  log.note(
    { group: first, handler: null },
    { code: 'HOOK_NEVER_DENIES', detail: `${count} events were tried` },
  )
}

function namesOf({ plugin_name, components }: Analysis): LabNames {
  return {
    plugin: plugin_name,
    agents: components.agents.map(({ cli_name }) => cli_name),
    commands: components.commands.map(({ cli_name }) => cli_name),
    toolPrefixes: components.mcp_servers.map(({ tool_prefix }) => tool_prefix),
  }
}

/** Defaults of `userConfig` in the manifest: the settings a user enters when enabling the plugin. */
function defaultsOf({ userConfig }: Analysis['manifest']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(asObject(userConfig) ?? {}).flatMap(([key, option]) => {
      const initial = asObject(option)?.default
      return initial === undefined ? [] : [[key, String(initial)]]
    }),
  )
}

/** Runs one of the author's examples: all hooks that fire for it, in parallel and in the same place, like Claude Code does. */
async function tryExample(
  { example, source }: FoundExample,
  groups: readonly HookComponent[],
  labRun: LabRun,
) {
  return inPlace(labRun, example.event, async (place) => {
    const event = exampleEvent(example, place, labRun.names)
    const firing = groups.flatMap((group) => firingHandlers(group, event))
    const answers = await Promise.all(
      firing.map(async ({ handler }) => (await tryHandler(handler, event, { ...labRun, place })).answer),
    )
    const failed = judgeExample(example, answers)
    const { decision, text } = strictest(answers)
    const clean = withoutPlaces(place)
    const blamed = firing[0]?.group ?? groups.find((group) => group.event === example.event)
    if (failed !== null && blamed !== undefined) {
      const noticed = { code: 'HOOK_EXAMPLE_FAILED', detail: clean(`${source}: ${failed}`) } as const
      labRun.log.note({ group: blamed, handler: null }, noticed, source)
    }
    return {
      /** Relative to the plugin, with the number of the example if a file has several. */
      source,
      event: example.event,
      expected: example.expect,
      passed: failed === null,
      decision,
      text: text === null ? null : clean(text),
      message: clean(failed ?? `${decision}, as expected`),
      /** Handlers that fired, as `component[index]`. */
      fired: firing.map(({ group, index }) => `${componentId('hook', group.name)}[${index}]`),
    }
  })
}

function firingHandlers(group: HookComponent, event: SimulatedEvent) {
  return group.handlers.flatMap((handler, index) => {
    const runs = handlerFires(group, handler, event) && whyNeverStarted(group.event, handler) === null
    return runs && whyNotTestable(handler) === null ? [{ group, handler, index }] : []
  })
}

/** The combined decision of all hooks that fired: the strictest wins. */
export function strictest(answers: readonly HookEffect[]): HookEffect {
  const sorted = answers.toSorted((a, b) => strictness.indexOf(a.decision) - strictness.indexOf(b.decision))
  return sorted[0] ?? { decision: 'none', text: null, noticed: [] }
}

const strictness: readonly HookDecision[] = ['deny', 'block', 'ask', 'modify', 'context', 'allow', 'none']

export function judgeExample(
  { expect, contains }: HookExample,
  answers: readonly HookEffect[],
): string | null {
  const { decision } = strictest(answers)
  if (!fits(expect, decision, answers)) return `expected ${expect}, got ${decision}`
  if (contains === undefined) return null
  const words = answers.flatMap(({ text, change }) => [
    text ?? '',
    change === undefined ? '' : JSON.stringify(change),
  ])
  return words.some((text) => text.includes(contains))
    ? null
    : `${decision}, but no reason, context or change contains '${contains}'`
}

function fits(
  expected: HookExample['expect'],
  decision: HookDecision,
  answers: readonly HookEffect[],
): boolean {
  const isRefused = decision === 'deny' || decision === 'block'
  if (expected === 'deny' || expected === 'block') return isRefused
  if (expected === 'allow') return !isRefused && decision !== 'ask'
  if (expected === 'ask' || expected === 'none') return decision === expected
  return !isRefused && answers.some((answer) => answer.decision === expected)
}
