import { join } from 'node:path'
import { isObject } from '../../core/json-fields.ts'
import type { CliLaunch } from '../cli/contract.ts'
import type { AgentRequest } from '../contract.ts'
import type { GeminiAgentConfig } from './schema.ts'

/** Left to itself Gemini CLI first asks a small model which model to take: a call that no script expects. */
const plainModel = 'gemini-2.5-flash'

/** The prompt goes by stdin, so that it may be long and may begin with a dash. */
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
      // It would start itself anew with a larger heap: twice the time to start, and a process more to stop.
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
    // By default it tries ten times, for many minutes, before it reports a rate limit.
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
      : ["settings could not act: with home: host Gemini CLI reads the caller's settings.json."]),
    ...(endpoint === undefined
      ? []
      : [
          "home: host lets the caller's settings.json choose how Gemini CLI signs in; unless that is an API key it does not use the given model.",
        ]),
  ]
}

/**
 * Gemini CLI ends without waiting for what it has not yet written: of a long output the rest is lost, and the end of the
 * stream with it, unless the reader is fast enough. A NODE_OPTIONS under which it writes as a plain program does. The
 * commands it runs are given what was there before.
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

/** One settings file out of two: where both have an object they are merged, else the second wins. */
export function mergeSettings(first: Settings, second: Settings): Settings {
  const merged = new Map(Object.entries(first))
  for (const [key, value] of Object.entries(second)) {
    const before = merged.get(key)
    merged.set(key, isObject(before) && isObject(value) ? mergeSettings(before, value) : value)
  }
  return Object.fromEntries(merged)
}
