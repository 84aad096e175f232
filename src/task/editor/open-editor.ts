import { join } from 'node:path'
import { builtinToolCall } from '../../agents/builtin/hooks.ts'
import type { AgentHooks, AgentOutcome, AgentRequest } from '../../agents/contract.ts'
import { scriptedToolCall } from '../../agents/scripted/hooks.ts'
import { agentVariables, withoutKeys } from '../../config/agent-variables.ts'
import type { ResolvedAgent } from '../../config/resolve-agent.ts'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { Redaction } from '../../core/redaction.ts'
import { guardHooks } from '../../guard-engine/guard-hooks.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { openGuard } from '../../guard-engine/open-guard.ts'
import { agentEnvironment } from '../../guard-install/agent-environment.ts'
import { type AgentGuard, guardForAgent } from '../../guard-install/guard-for-agent.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import { installForRun } from '../../guard-install/temporary-guard.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { runLinkedAgent } from '../../model-link/run-linked-agent.ts'
import { lazyBoundary } from '../../models/boundary/lazy-boundary.ts'
import type { ModelLink } from '../../models/boundary/model-link.ts'
import type { PriceTable } from '../../models/price-table.ts'
import { rules } from '../../rules/index.ts'
import { infra } from '../task-halt.ts'
import type { EditorTurn, TaskSite } from '../task-request.ts'
import { type EditorPlace, editorSandbox, engineForProgram } from './editor-sandbox.ts'
import { refusedLine, refusedSince } from './refused-since.ts'
import { type EditorWriteLimits, editorWriteLimits, protectedNames } from './write-limits.ts'

type Variables = Readonly<Record<string, string | undefined>>

export interface EditorOptions {
  readonly agent: ResolvedAgent
  /** The agent's link to its model; null when it calls its provider directly. */
  readonly modelLink: ModelLink | null
  readonly model: string
  readonly package: string | null
  /** Directory of the run store. */
  readonly artefacts: string
  readonly host: Variables
  readonly prices: PriceTable
  readonly redaction: Redaction
  /** Time limit of one turn. */
  readonly timeoutMs: number
  /** Default true. `trust_hooks` of an agent in gantry.yaml overrides it. */
  readonly trustsHooks?: boolean
  /** Files that configure agents' hooks. The guard protects them like its own files. */
  readonly guarded?: { readonly own: readonly string[]; readonly hookBin: string | null }
  readonly place: EditorPlace
}

export interface Editor extends AsyncDisposable {
  readonly edit: (turn: EditorTurn) => Promise<AgentOutcome>
}

const toolCalls = { builtin: builtinToolCall, scripted: scriptedToolCall } as const

/** An agent that edits the tree under the guard's rules and within the write limits. */
export async function openEditor(given: EditorOptions, site: TaskSite): Promise<Editor> {
  const toToolCall = inProcess(given.agent)
  const { options, engine } = await placed(given, site, toToolCall !== null)
  const { agent, modelLink, host } = options
  const { run, root, home, scratch, emit } = site
  await using stack = new AsyncDisposableStack()
  // The Verifier decides, so the guard does not ask the agent to verify its work.
  const settings = {
    GANTRY_GUARD_HOME: guardHome(host),
    HARNESS_CHECKLIST_ENABLED: 'false',
    HARNESS_STATE_DIR: join(home, 'harness'),
    HARNESS_BOUNDARY_ENABLED: 'true',
    HARNESS_BOUNDARY_ROOT: root,
    HARNESS_BOUNDARY_GIT: 'read',
    HARNESS_BOUNDARY_REFUSED: JSON.stringify([...protectedNames, ...artefactsBelow(root, options.artefacts)]),
    HARNESS_BOUNDARY_ALSO: JSON.stringify([scratch]),
    ...(options.package !== null && { HARNESS_BOUNDARY_PACKAGE: options.package }),
  }
  const guarded = toToolCall === null ? guardProcess(options, site, settings) : null
  if (guarded !== null && guarded.problem !== null)
    emit({ kind: 'note', level: 'warning', message: guarded.problem })
  const env = guarded?.env ?? { ...plainEnvironment(options, site), ...settings }
  const writeLimits = editorWriteLimits({
    ...{ root, artefacts: options.artefacts, scratch, home: env.HOME ?? home, env },
    package: options.package,
  })
  const models = stack.use(lazyBoundary())
  const program = toToolCall === null ? (agent.probe.path ?? null) : null
  const ports = async () => (program === null ? [] : [(await models.get()).port])
  const box =
    engine === null ? null : stack.use(editorSandbox({ ...options.place, engine }, site, program, ports))
  const inside = async (turn: string): Promise<AgentRequest['sandbox']> => {
    if (box === null) return undefined
    const run = box.run({ ...stepVariables(options, env), GANTRY_ATTEMPT: turn })
    if (program === null) return { run }
    const opening = await box.open()
    if (opening.kind === 'open') return { ...opening.sandbox, run }
    const why = opening.kind === 'failed' ? opening.failure.message : 'it was cancelled'
    throw infra('sandbox of the Editor', why, 'Check it with gantry doctor. Then retry the task.')
  }
  const edit = async (turn: EditorTurn): Promise<AgentOutcome> => {
    await using _hooks = await guarded?.installHooks()
    const refused: string[] = []
    const hooks =
      toToolCall === null ? null : hooksOf(options, site, { turn, env, writeLimits, toToolCall, refused })
    const since = new Date().toISOString()
    const outcome = await runLinkedAgent({
      driver: agent.driver,
      modelLink:
        modelLink === null
          ? null
          : { model: modelLink, boundary: models.get, cassette: run.dir, faults: null },
      meter: agent.meter,
      prompt: turn.prompt,
      workspace: root,
      places: { home: env.HOME ?? home, tmp: env.TMPDIR ?? scratch },
      model: options.model,
      env: { ...env, GANTRY_ATTEMPT: String(turn.number) },
      timeoutMs: options.timeoutMs,
      ...(turn.maxCostUsd !== undefined && { maxCostUsd: turn.maxCostUsd }),
      prices: options.prices,
      redact: options.redaction.text,
      facts: { agent: agent.name, driver: agent.driver.name, model: options.model },
      signal: turn.signal,
      emit: (event) => report(site, event),
      transcript: () => {},
      ...(hooks !== null && { hooks }),
      sandbox: await inside(String(turn.number)),
    })
    if (hooks === null) refused.push(...refusedSince(guardHome(options.host), root, since))
    if (refused.length === 0) return outcome
    return { ...outcome, warnings: [...(outcome.warnings ?? []), ...new Set(refused)].slice(0, maxWarnings) }
  }
  const kept = stack.move()
  return { edit, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const maxWarnings = 20

/** The engine of the Editor's sandbox, null for none, and what changes for an agent whose process is in it. */
async function placed(options: EditorOptions, site: TaskSite, isInProcess: boolean) {
  const { agent, modelLink, place, host } = options
  if (place.engine.name === 'host') return { options, engine: null }
  if (isInProcess) return { options, engine: place.engine }
  const found = await engineForProgram(agent, modelLink !== null, place)
  if ('why' in found) {
    const message = `${agent.name} works outside the sandbox, with your files and your network: ${found.why}.`
    site.emit({ kind: 'note', level: 'info', message })
    return { options, engine: null }
  }
  const own = { ...host, GANTRY_GUARD_HOME: join(site.home, 'guard') }
  const driver = agent.withSettings?.((settings) => ({ ...settings, home: 'isolated' })) ?? agent.driver
  return {
    options: { ...options, agent: { ...agent, driver, home: 'isolated' as const }, host: own },
    engine: found,
  }
}

/** The variables of the steps and of the agent, without keys and what the sandbox sets itself. */
function stepVariables({ agent, place }: EditorOptions, env: Readonly<Record<string, string>>) {
  const own = Object.entries(withoutKeys(agent, env)).filter(
    ([name]) => !/^(?:HARNESS_|GANTRY_|LC_|LANG$|TERM$|PATH$)/.test(name),
  )
  return { ...place.config.env, ...Object.fromEntries(own) }
}

/** The Editor may read, but not write, a store inside the repository. */
function artefactsBelow(root: string, artefacts: string): readonly string[] {
  return artefacts.startsWith(`${root}/`) ? [artefacts.slice(root.length + 1)] : []
}

function inProcess({ driver }: ResolvedAgent): typeof builtinToolCall | null {
  const { name } = driver
  return name === 'builtin' || name === 'scripted' ? toolCalls[name] : null
}

/** Guards an agent that runs as a separate process by the hooks the user installed. Without them, adds hooks to its configuration for each turn. */
function guardProcess(
  { agent, modelLink, host, trustsHooks = true }: EditorOptions,
  { run, root, home, scratch }: TaskSite,
  settings: Readonly<Record<string, string>>,
) {
  const hasModelLink = modelLink !== null
  const env = { ...agentEnvironment({ agent, host, hasModelLink, home, tmp: scratch }), ...settings }
  const place = { root, home: env.HOME ?? home, env }
  const program = { node: process.execPath, hookBin: hookBinPath() }
  const guard = guardForAgent(agent.driver.name, place, program, trustsHooks)
  return {
    env,
    /** A sentence about what the guard cannot enforce; null when it enforces everything. */
    problem: guardProblem(guard, agent.name),
    /** Called before each turn. Disposing removes the hooks from the tree; null when they are already installed. */
    installHooks: async (): Promise<AsyncDisposable | null> => {
      if (guard.kind !== 'temporary') return null
      const { agent: hooked, path } = guard
      const end = await installForRun({ agent: hooked, path, place, program, runDir: run.dir })
      return { [Symbol.asyncDispose]: end }
    },
  }
}

function guardProblem(guard: AgentGuard, agent: string): string | null {
  switch (guard.kind) {
    case 'none':
      return `${agent} works without the guard: ${guard.why}. Forbidden changes are reverted after each turn instead of being refused.`
    case 'installed':
      return guard.problems.length === 0
        ? null
        : `The guard in ${guard.path} may not work: ${guard.problems.join('; ')}.`
    case 'temporary':
    case 'in_process':
      return null
  }
}

function plainEnvironment({ agent, modelLink, host }: EditorOptions, { home, scratch }: TaskSite) {
  const inherit = Object.keys(host).filter((name) => name.startsWith('HARNESS_'))
  return {
    ...hermeticEnv({ host, home, tmp: scratch, inherit }),
    ...agentVariables(agent, host, modelLink !== null),
  }
}

interface Surroundings {
  readonly turn: EditorTurn
  readonly env: Readonly<Record<string, string>>
  readonly writeLimits: EditorWriteLimits
  readonly toToolCall: typeof builtinToolCall
  /** Gets a line for each refused call. */
  readonly refused: string[]
}

/** Checks the write limits before the guard. Every turn is a separate session in the ledger. */
function hooksOf(options: EditorOptions, site: TaskSite, around: Surroundings): AgentHooks {
  const { turn, env, writeLimits, toToolCall, refused } = around
  const { own = [], hookBin = null } = options.guarded ?? {}
  const guard = guardHooks({
    guard: openGuard({ rules, guardHome: guardHome(options.host), env, own, hookBin }),
    agent: 'builtin',
    session: `${site.run.id}-edit-${turn.number}`,
    root: site.root,
    toToolCall,
    onNotice: (message) => site.emit({ kind: 'note', level: 'info', message }),
  })
  const edge = writeLimits.hooks(toToolCall)
  return {
    ...guard,
    beforeTool: async (call) => {
      const first = await edge.beforeTool?.(call)
      const decision = first?.kind === 'deny' ? first : await guard.beforeTool?.(call)
      if (decision?.kind === 'deny') refused.push(options.redaction.text(refusedLine(call, decision.reason)))
      return decision ?? { kind: 'allow' }
    },
  }
}

const maxOutput = 2_000

/** Actions only: conversations are not stored. */
function report({ emit }: TaskSite, event: Untimed<AgentEvent>): void {
  switch (event.event) {
    case 'message':
    case 'output':
    case 'raw':
    case 'model_call':
      return
    case 'tool_result':
      emit({ kind: 'agent', event: { ...event, output: event.output.slice(0, maxOutput) } })
      return
    default:
      emit({ kind: 'agent', event: { ...event } })
  }
}
