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

/** The fixed names of the directories, so that data and reports are the same on every machine. */
function namesOf(place: LabPlace): readonly (readonly [path: string, name: string])[] {
  return [
    [place.pluginData, '<data>'],
    [place.pluginRoot, '<plugin>'],
    [place.workspace, '<workspace>'],
    [place.home, '<home>'],
    [place.tmp, '<tmp>'],
  ]
}

export function withoutPlaces(place: LabPlace): (text: string) => string {
  const names = namesOf(place)
  return (text) => names.reduce((shown, [path, name]) => shown.replaceAll(path, name), text)
}

/** The reverse of `withoutPlaces`. */
export function inPlaces(place: LabPlace): (text: string) => string {
  const names = namesOf(place)
  return (text) => names.reduce((shown, [path, name]) => shown.replaceAll(name, () => path), text)
}

/** Changes every text in a JSON value. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  return JSON.parse(JSON.stringify(value), (_, item: unknown) =>
    typeof item === 'string' ? change(item) : item,
  )
}
