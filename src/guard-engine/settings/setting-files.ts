import { dirname, join, resolve, sep } from 'node:path'
import { isFile } from '../../io/path-kind.ts'

export interface SettingsPlace {
  /** Absolute path of the project. */
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Directory of the user's settings for all projects. */
  readonly userDir?: string
  /** What a person accepted. A file that differs from it counts as it was then. */
  readonly seal?: SettingsSeal
}

export interface SettingsSeal {
  /** A hash by path; null for a file that did not exist. */
  readonly files: Readonly<Record<string, string | null>>
  readonly texts: Readonly<Record<string, string>>
  /** The user's own file is not in the seal of a project. It counts unless it was changed after this time. */
  readonly startedMs: number
}

export interface SettingFile {
  readonly path: string
  readonly kind: 'harness' | 'gantry'
  /** Only the user's own files may name places outside the project. */
  readonly isUsers: boolean
}

/** The settings files from weak to strong: of a plugin, of the user, of the project. */
export function settingFiles(place: SettingsPlace): readonly SettingFile[] {
  const { files, texts } = place.seal ?? {}
  const all = gantryFiles(place.root).filter((path) => files === undefined || Object.hasOwn(files, path))
  const gantry = all.find((path) => texts?.[path] !== undefined) ?? all.find(isFile)
  return [
    ...harnessFiles(place).map(
      (path) => ({ path, kind: 'harness', isUsers: path === users(place) }) as const,
    ),
    ...(gantry === undefined ? [] : [{ path: gantry, kind: 'gantry', isUsers: false } as const]),
  ]
}

/** Every path where a file would count as settings, existing or not: creating one would change the settings. */
export function settingPlaces(place: SettingsPlace): readonly string[] {
  const gantry = gantryFiles(place.root)
  const found = gantry.findIndex(isFile)
  return [...harnessFiles(place), ...(found === -1 ? gantry : gantry.slice(0, found + 1))]
}

function users({ userDir }: SettingsPlace): string | null {
  return userDir === undefined ? null : join(userDir, 'harness.json')
}

function harnessFiles(place: SettingsPlace): readonly string[] {
  const { root, env } = place
  const plugin = env.CLAUDE_PLUGIN_ROOT
  const own = users(place)
  return [
    ...(plugin === undefined || plugin === '' ? [] : [join(plugin, 'harness', 'harness.json')]),
    ...(own === null ? [] : [own]),
    join(root, 'harness', 'harness.json'),
    join(root, 'harness.json'),
  ]
}

/** The first existing file counts. */
function gantryFiles(root: string): readonly string[] {
  const looked: string[] = []
  for (let directory = resolve(root); ; directory = dirname(directory)) {
    // Concatenated: `join` would normalize again, which takes a hook half a millisecond on the way up.
    const inIt = directory.endsWith(sep) ? directory : `${directory}${sep}`
    looked.push(`${inIt}gantry.yaml`, `${inIt}gantry.yml`)
    if (directory === dirname(directory)) return looked
  }
}
