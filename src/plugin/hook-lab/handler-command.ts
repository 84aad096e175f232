import { hermeticEnv } from '../../io/hermetic-env.ts'
import type { LabPlace } from './lab-place.ts'
import { sessionId } from './lab-place.ts'

export interface HandlerCommand {
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
}

export interface HandlerSetting {
  readonly event: string
  readonly place: LabPlace
  /** The environment to pick from: of the caller only the PATH and the like. */
  readonly host: Readonly<Record<string, string | undefined>>
  /** Laid over everything else. */
  readonly variables: Readonly<Record<string, string>>
  /** Settings of the plugin that a user would have been asked for, by their names; their defaults here. */
  readonly userConfig: Readonly<Record<string, string>>
}

/** How Claude Code would start a handler of type command: without a shell when it has `args`, else by one. null when there is nothing to start. */
export function handlerCommand(
  handler: Readonly<Record<string, unknown>>,
  setting: HandlerSetting,
): HandlerCommand | null {
  const { command, args, shell } = handler
  if (typeof command !== 'string' || command.trim() === '') return null
  const env = handlerEnvironment(setting)
  const fill = filler(setting)
  if (Array.isArray(args)) {
    const words = args.filter((word) => typeof word === 'string')
    return { argv: [fill(command), ...words.map(fill)], env }
  }
  const line = fillPlaces(command, setting.place)
  if (shell === 'powershell') return { argv: ['pwsh', '-NoProfile', '-Command', line], env }
  return { argv: [shell === 'bash' ? 'bash' : 'sh', '-c', line], env }
}

/** The variables of a hook's process, and of the caller's own nothing that could be a secret. */
export function handlerEnvironment({
  event,
  place,
  host,
  variables,
  userConfig,
}: HandlerSetting): Record<string, string> {
  const options = Object.entries(userConfig).map(
    ([key, value]) =>
      [`CLAUDE_PLUGIN_OPTION_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`, value] as const,
  )
  return hermeticEnv({
    host,
    home: place.home,
    tmp: place.tmp,
    extra: {
      CLAUDE_PROJECT_DIR: place.workspace,
      CLAUDE_PLUGIN_ROOT: place.pluginRoot,
      CLAUDE_PLUGIN_DATA: place.pluginData,
      CLAUDE_CODE_SESSION_ID: sessionId,
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_TMPDIR: place.tmp,
      CLAUDE_EFFORT: 'medium',
      CLAUDECODE: '1',
      ...(withEnvFile.has(event) && { CLAUDE_ENV_FILE: place.envFile }),
      ...Object.fromEntries(options),
      ...variables,
    },
  })
}

const withEnvFile: ReadonlySet<string> = new Set(['SessionStart', 'Setup', 'CwdChanged', 'FileChanged'])

/** `${user_config.…}` is filled in only where no shell could read it as something else. */
function filler({ place, userConfig }: HandlerSetting): (text: string) => string {
  return (text) =>
    fillPlaces(text, place).replaceAll(/\$\{user_config\.([\w.-]+)\}/g, (written: string, key: string) =>
      Object.hasOwn(userConfig, key) ? (userConfig[key] ?? '') : written,
    )
}

function fillPlaces(text: string, { workspace, pluginRoot, pluginData }: LabPlace): string {
  const places = { PROJECT_DIR: workspace, PLUGIN_ROOT: pluginRoot, PLUGIN_DATA: pluginData }
  return text.replaceAll(
    /\$\{CLAUDE_(PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\}/g,
    (_, name: keyof typeof places) => places[name],
  )
}
