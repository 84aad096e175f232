import { join } from 'node:path'

export interface HermeticEnvRequest {
  /** The environment to pick from, usually that of this process. */
  readonly host: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly tmp: string
  /** More names to keep from the host, if set. */
  readonly inherit?: readonly string[]
  /** Overrides everything else. */
  readonly extra?: Readonly<Record<string, string>>
  readonly platform?: NodeJS.Platform
}

/** An environment that is the same on every machine: its own directories, and only essential variables of the host. */
export function hermeticEnv(request: HermeticEnvRequest): Record<string, string> {
  const { host, home, tmp, inherit = [], extra = {}, platform = process.platform } = request
  const isWindows = platform === 'win32'
  const wanted = new Set(isWindows ? [...allowed, ...allowedOnWindows].map(upperCase) : allowed)
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined) continue
    if (name.startsWith('LC_') || wanted.has(isWindows ? upperCase(name) : name)) env[name] = value
  }
  Object.assign(env, places(home, tmp), isWindows && placesOnWindows(home, tmp))
  for (const name of inherit) {
    const value = Object.hasOwn(host, name) ? host[name] : undefined
    if (value !== undefined) env[name] = value
  }
  return Object.assign(env, extra)
}

const allowed = ['PATH', 'LANG', 'TZ', 'TERM']
/** Windows programs fail to load or to find their interpreter without these. Names there have no case. */
const allowedOnWindows = ['SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'PATHEXT']

function places(home: string, tmp: string): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: tmp,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_CACHE_HOME: join(home, '.cache'),
  }
}

function placesOnWindows(home: string, tmp: string): Record<string, string> {
  return {
    USERPROFILE: home,
    APPDATA: join(home, 'AppData', 'Roaming'),
    LOCALAPPDATA: join(home, 'AppData', 'Local'),
    TEMP: tmp,
    TMP: tmp,
  }
}

function upperCase(name: string): string {
  return name.toUpperCase()
}
