import { resolve } from 'node:path'
import type { CliLaunch, CliPlace } from '../cli/contract.ts'
import type { AgentRequest } from '../contract.ts'
import { environment } from './environment.ts'
import { lowest } from './lowest.ts'
import { resumeWarnings } from './resume-warnings.ts'
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
