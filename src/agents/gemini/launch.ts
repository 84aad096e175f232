import { join } from 'node:path'
import { isObject } from '../../core/json-fields.ts'
import type { CliLaunch } from '../cli/contract.ts'
import type { AgentRequest } from '../contract.ts'
import type { GeminiAgentConfig } from './schema.ts'

/** By default Gemini CLI first asks a small model which model to use: a call that no script expects. */
const plainModel = 'gemini-2.5-flash'

/** The prompt goes to stdin, where its length and a leading dash do not matter. */
export function launchGemini(config: GeminiAgentConfig, request: AgentRequest): CliLaunch {
  const { endpoint, env, model, prompt } = request
  const isolated = config.home === 'isolated'
  const chosen = model === 'default' ? (endpoint === undefined ? null : plainModel) : model
  return {
    args: [
      ...['--output-format', 'stream-json'],
      ...['--approval-mode', config.approval_mode],
      ...(chosen === null ? [] : ['--model', chosen]),
      ...(config.debug ? ['--debug'] : []),
    ],
    env: {
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      // It would restart itself with a larger heap: twice the start time, and one more process to stop.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      NODE_OPTIONS: blockingOutput(env.NODE_OPTIONS),
      ...(endpoint === undefined
        ? {}
        : { GEMINI_API_KEY: endpoint.key, GOOGLE_GEMINI_BASE_URL: endpoint.url }),
    },
    stdin: prompt,
    files: isolated
      ? [{ path: join(env.HOME ?? '', '.gemini', 'settings.json'), content: settingsOf(config, request) }]
      : [],
    warnings: isolated ? [] : hostWarnings(config, request),
  }
}

function settingsOf({ settings }: GeminiAgentConfig, { endpoint }: AgentRequest): string {
  const own: Settings = {
    // By default it retries ten times, for many minutes, before it reports a rate limit.
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 4 },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: {
      folderTrust: { enabled: false },
      ...(endpoint === undefined ? {} : { auth: { selectedType: 'gemini-api-key' } }),
    },
    hooksConfig: { enabled: true },
    tools: { enableHooks: true },
  }
  return JSON.stringify(mergeSettings(own, settings), null, 2)
}

function hostWarnings({ settings }: GeminiAgentConfig, { endpoint }: AgentRequest): readonly string[] {
  return [
    ...(Object.keys(settings).length === 0
      ? []
      : ["settings have no effect: with home: host Gemini CLI reads the caller's settings.json."]),
    ...(endpoint === undefined
      ? []
      : [
          "home: host lets the caller's settings.json choose how Gemini CLI signs in; unless that is an API key it does not use the given model.",
        ]),
  ]
}

/**
 * Gemini CLI exits without waiting for unwritten output: unless the reader is fast enough, the rest of a long output is lost with the end
 * of the stream. This NODE_OPTIONS makes its writes synchronous. The commands it runs get the original value.
 */
export function blockingOutput(before: string | undefined): string {
  const restore =
    before === undefined
      ? 'delete process.env.NODE_OPTIONS'
      : `process.env.NODE_OPTIONS=${JSON.stringify(before)}`
  const code = `for(const s of[process.stdout,process.stderr])s._handle?.setBlocking?.(true);${restore}`
  const option = `--import=data:text/javascript,${encodeURIComponent(code)}`
  return before === undefined ? option : `${before} ${option}`
}

type Settings = { readonly [key: string]: unknown }

/** Merges two settings files: objects are merged, for anything else the second wins. */
export function mergeSettings(first: Settings, second: Settings): Settings {
  const merged = new Map(Object.entries(first))
  for (const [key, value] of Object.entries(second)) {
    const before = merged.get(key)
    merged.set(key, isObject(before) && isObject(value) ? mergeSettings(before, value) : value)
  }
  return Object.fromEntries(merged)
}
