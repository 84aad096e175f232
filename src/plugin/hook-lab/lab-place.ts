/** The directories and files of one simulated event. All paths are absolute and exist. */
export interface LabPlace {
  readonly workspace: string
  readonly home: string
  readonly tmp: string
  /** A copy of the plugin. */
  readonly pluginRoot: string
  /** What outlives an update of the plugin, empty. */
  readonly pluginData: string
  /** A short conversation, as the CLI keeps it. */
  readonly transcript: string
  /** Where a hook may leave variables, on the events that have it. */
  readonly envFile: string
}

/** What the plugin has, by the names the CLI gives it: events are about these first. */
export interface LabNames {
  readonly plugin: string
  readonly agents: readonly string[]
  readonly commands: readonly string[]
  /** `mcp__plugin_demo_weather__`: how the tools of its servers begin. */
  readonly toolPrefixes: readonly string[]
}

export const sessionId = '00000000-0000-4000-8000-000000000001'

/** Replaces paths of the lab by fixed names, so reports are the same on every machine. */
export function withoutPlaces(place: LabPlace): (text: string) => string {
  const names: readonly (readonly [string, string])[] = [
    [place.pluginData, '<data>'],
    [place.pluginRoot, '<plugin>'],
    [place.workspace, '<workspace>'],
    [place.home, '<home>'],
    [place.tmp, '<tmp>'],
  ]
  return (text) => names.reduce((shown, [path, name]) => shown.replaceAll(path, name), text)
}
