import type { Analysis } from '../analyze/contract.ts'
import type { HookGroupReport, HookLabReport } from './contract.ts'
import { createFindingLog } from './finding-log.ts'
import { readHookExamples } from './hook-examples.ts'
import type { LabNames } from './lab-place.ts'
import { eachAtMost, type LabRun } from './lab-run.ts'
import { openLab } from './open-lab.ts'
import { tryExample } from './try-example.ts'
import { tryGroup } from './try-group.ts'

export interface TryHooksOptions {
  /** The caller's environment; a hook gets the PATH and the like of it, and nothing that could be a secret. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  /** A directory; hooks work in a copy of it. Default: a small built-in project. */
  readonly workspace?: string
  /** Longest wait for one answer, whatever the hook's own timeout is. Default: ten seconds. */
  readonly maxTimeoutMs?: number
  /** Ask handlers of type http that are on this machine. Default: no. */
  readonly allowHttp?: boolean
  /** Also try actions that a guard should refuse: for hooks that seem to be guards (default), for all, or for none. */
  readonly attacks?: LabRun['attacks']
  /** Events at a time. Default: two. */
  readonly concurrency?: number
  /** Variables a hook gets on top. */
  readonly variables?: Readonly<Record<string, string>>
}

/**
 * Starts every hook of a plugin that can be tried without Claude Code, with simulated events, and reports how Claude Code would
 * treat each answer. The plugin is copied first, every event has its own home and workspace, and no process of a hook outlives it. Throws GantryError for examples that do not fit their schema, and when it is interrupted.
 */
export async function tryHooks(analysis: Analysis, options: TryHooksOptions): Promise<HookLabReport> {
  const examples = readHookExamples(analysis.plugin_path)
  using lab = await openLab(analysis, {
    host: options.env,
    ...(options.workspace !== undefined && { workspace: options.workspace }),
  })
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
    allowsHttp: options.allowHttp ?? false,
    attacks: options.attacks ?? 'when_said',
    concurrency: options.concurrency ?? 2,
    signal: options.signal ?? new AbortController().signal,
  }
  const hooks = analysis.components.hooks.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const groups: HookGroupReport[] = []
  // One after the other: changes in the plugin must be attributed to the hook that made them.
  for (const group of hooks) groups.push(await tryGroup(group, labRun))
  const results = await eachAtMost(labRun, examples, (example) => tryExample(example, hooks, labRun))
  const findings = log.findings()
  const handlers = groups.flatMap((group) => group.handlers)
  return {
    schema_version: 1,
    plugin_name: analysis.plugin_name,
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
  if (typeof userConfig !== 'object' || userConfig === null) return {}
  return Object.fromEntries(
    Object.entries(userConfig).flatMap(([key, option]: [string, unknown]) => {
      const initial =
        typeof option === 'object' && option !== null && 'default' in option ? option.default : undefined
      return initial === undefined ? [] : [[key, String(initial)]]
    }),
  )
}
