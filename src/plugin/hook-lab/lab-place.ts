/** The directories and files of one simulated event. All paths are absolute and exist. */
export interface LabPlace {
  readonly workspace: string
  readonly home: string
  readonly tmp: string
  /** A copy of the plugin. */
  readonly pluginRoot: string
  /** The plugin's data directory, which survives updates; empty. */
  readonly pluginData: string
  /** A short transcript in the format of the CLI. */
  readonly transcript: string
  /** The file for environment variables of a hook, for events that support it. */
  readonly envFile: string
}

/** Components of the plugin by their CLI names; events use these first. */
export interface LabNames {
  readonly plugin: string
  readonly agents: readonly string[]
  readonly commands: readonly string[]
  /** `mcp__plugin_demo_weather__`: the prefixes of its servers' tools. */
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
