import { resolve } from 'node:path'
import type { CliLaunch, CliPlace } from '../cli/contract.ts'
import type { AgentRequest, SessionRequest } from '../contract.ts'
import type { ClaudeCodeConfig } from './schema.ts'

/** The command line and the environment of one prompt. The prompt goes to stdin, where its length and a leading dash do not matter. */
export function launch(config: ClaudeCodeConfig, request: AgentRequest, place: CliPlace): CliLaunch {
  const at = (path: string): string => resolve(place.base, path)
  return {
    args: [
      '--print',
      // Options with any number of values come first: the next option ends them.
      ...list('--allowedTools', config.allowed_tools),
      ...list('--disallowedTools', config.disallowed_tools),
      ...list('--add-dir', config.add_dirs.map(at)),
      ...list('--mcp-config', config.mcp_config.map(at)),
      ...(config.strict_mcp_config ? ['--strict-mcp-config'] : []),
      ...config.plugins.flatMap((plugin) => ['--plugin-dir', at(plugin)]),
      ...option('--settings', settingsWord(config.settings, at)),
      ...(config.setting_sources === undefined
        ? []
        : [`--setting-sources=${config.setting_sources.join(',')}`]),
      ...option(
        '--agents',
        Object.keys(config.agents).length === 0 ? undefined : JSON.stringify(config.agents),
      ),
      ...permission(config),
      ...option('--system-prompt', config.system_prompt),
      ...option('--append-system-prompt', config.append_system_prompt),
      ...option('--model', request.model === 'default' ? undefined : request.model),
      ...option('--fallback-model', config.fallback_model),
      ...option('--effort', config.effort),
      ...option('--max-turns', lowest(config.max_turns, request.maxTurns)),
      ...option('--max-budget-usd', lowest(config.max_budget_usd, fixedLimit(request))),
      ...option('--resume', config.resume),
      '--output-format',
      'stream-json',
      '--include-hook-events',
      '--verbose',
    ],
    env: environment(config, request, place),
    stdin: request.prompt,
    warnings: resumeWarnings(config),
  }
}

/** The boundary enforces a limit that may grow. An option of the program could not. */
function fixedLimit({ maxCostUsd, raiseCostLimit, endpoint }: AgentRequest): number | undefined {
  return raiseCostLimit !== undefined && endpoint !== undefined ? undefined : maxCostUsd
}

function option(name: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [name, String(value)]
}

function list(name: string, values: readonly string[]): readonly string[] {
  return values.length === 0 ? [] : [name, ...values]
}

function permission({ permission_mode: mode }: ClaudeCodeConfig): readonly string[] {
  return mode === 'bypassPermissions' ? ['--dangerously-skip-permissions'] : ['--permission-mode', mode]
}

function settingsWord(
  settings: ClaudeCodeConfig['settings'],
  at: (path: string) => string,
): string | undefined {
  return typeof settings === 'object'
    ? JSON.stringify(settings)
    : settings === undefined
      ? undefined
      : at(settings)
}

/** Variables that select other providers; with one of them Claude Code would ignore the boundary. */
const switches = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** Variables for Claude Code. Those set by the user stay, except for the model access. */
export function environment(
  { permission_mode: mode }: { readonly permission_mode: string },
  { env, endpoint }: Pick<SessionRequest, 'env' | 'endpoint'>,
  { isRoot }: Pick<CliPlace, 'isRoot'>,
): Readonly<Record<string, string>> {
  const wished = {
    // No traffic except model calls: no telemetry, no update, no look-up.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Otherwise its shell writes next to TMPDIR.
    ...(env.TMPDIR !== undefined && { CLAUDE_CODE_TMPDIR: env.TMPDIR }),
    // As root it refuses to work without permissions unless this variable declares a sandbox.
    ...(isRoot && mode === 'bypassPermissions' && { IS_SANDBOX: '1' }),
  }
  return {
    ...Object.fromEntries(Object.entries(wished).filter(([name]) => env[name] === undefined)),
    ...(endpoint !== undefined && {
      ANTHROPIC_BASE_URL: endpoint.url,
      ANTHROPIC_API_KEY: endpoint.key,
      ...Object.fromEntries(switches.filter((name) => env[name] !== undefined).map((name) => [name, '0'])),
    }),
  }
}

export function lowest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.min(one, other ?? one)
}

/** An empty HOME contains no earlier session. */
export function resumeWarnings({
  resume,
  home,
}: {
  readonly resume?: string | undefined
  readonly home: 'isolated' | 'host'
}): readonly string[] {
  return resume === undefined || home === 'host'
    ? []
    : ['`resume` needs the session of an earlier run, and the HOME of a trial is empty: use `home: host`.']
}

/**
 * Makes Claude Code keep copies of files in its HOME before its own tools change them, so that `rewind` can restore
 * them. Set it to `0` in the environment to disable them.
 */
const checkpointing = 'CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING'

/** As for one prompt, but prompts and control requests are JSON lines. The turn limit applies to each prompt. */
export function liveLaunch(config: ClaudeCodeConfig, request: SessionRequest, place: CliPlace): CliLaunch {
  const { args, env, warnings = [] } = launch(config, { ...request, prompt: '' }, place)
  return {
    args: [...args, '--input-format', 'stream-json'],
    env: { ...env, ...(request.env[checkpointing] === undefined && { [checkpointing]: '1' }) },
    warnings,
  }
}
