import { resolve } from 'node:path'
import type { CliLaunch, CliPlace } from '../cli/contract.ts'
import type { AgentRequest, SessionRequest } from '../contract.ts'
import type { ClaudeCodeConfig } from './schema.ts'

/** The command line and the environment of one prompt, which goes by stdin: no length and no leading dash can harm it. */
export function launch(config: ClaudeCodeConfig, request: AgentRequest, place: CliPlace): CliLaunch {
  const at = (path: string): string => resolve(place.base, path)
  return {
    args: [
      '--print',
      // Options that take any number of words stand first: what follows ends them.
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
      ...option('--max-budget-usd', lowest(config.max_budget_usd, request.maxCostUsd)),
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

/** Ways to other providers; with one of them the address of the boundary would not be looked at. */
const switches = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** What Claude Code needs to know by variables. What the user set himself stays, but for the way to the model. */
export function environment(
  { permission_mode: mode }: { readonly permission_mode: string },
  { env, endpoint }: Pick<SessionRequest, 'env' | 'endpoint'>,
  { isRoot }: Pick<CliPlace, 'isRoot'>,
): Readonly<Record<string, string>> {
  const wished = {
    // Nothing but calls of the model leaves the program: no telemetry, no update, no look-up.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Its shell writes beside TMPDIR otherwise.
    ...(env.TMPDIR !== undefined && { CLAUDE_CODE_TMPDIR: env.TMPDIR }),
    // As root it refuses to work without permissions unless this variable says that it runs in a sandbox.
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

/** The lower of two limits, either of which may not be there. */
export function lowest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : Math.min(one, other ?? one)
}

/** In an empty HOME there is no earlier session. */
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
 * Has Claude Code keep copies of files before its own tools change them, in its HOME, so that `rewind` can put them back. Who
 * wants none gives `0` in the environment.
 */
const checkpointing = 'CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING'

/** As for one prompt, but prompts and control requests come as lines of JSON. The limit of turns is that of each prompt. */
export function liveLaunch(config: ClaudeCodeConfig, request: SessionRequest, place: CliPlace): CliLaunch {
  const { args, env, warnings = [] } = launch(config, { ...request, prompt: '' }, place)
  return {
    args: [...args, '--input-format', 'stream-json'],
    env: { ...env, ...(request.env[checkpointing] === undefined && { [checkpointing]: '1' }) },
    warnings,
  }
}
