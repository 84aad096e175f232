/** Directories that differ from trial to trial. Stored text names them instead of their paths. */
export const placeNames = ['workspace', 'home', 'tmp', 'project'] as const

export type PlaceName = (typeof placeNames)[number]

/** A path, or several spellings of one (with and without links); the first is the one to fill in. */
export type RecordedDirectories = Readonly<Partial<Record<PlaceName, string | readonly string[]>>>

/** Paths out of text, and into it again. */
export interface PlaceCodec {
  /** Every path becomes `{workspace}` and the like; for comparing only. Doing it twice changes nothing more. */
  hide(text: string): string
  /** The same, and reversible: what looked like `{workspace}` before becomes `{~workspace}`. */
  store(text: string): string
  /** Undoes `store`, with the paths of these places. Names without a path stay as they are. */
  fill(text: string): string
}

export function createPlaceCodec(places: RecordedDirectories): PlaceCodec {
  const spellings = spellingsOf(places)
  const names = new Map(spellings.map(({ path, placeholder }) => [path, placeholder]))
  const pattern =
    spellings.length === 0 ? null : new RegExp(spellings.map(({ source }) => source).join('|'), 'g')
  const fillings = fillingsOf(places)
  const hide = (text: string): string =>
    pattern === null ? text : text.replaceAll(pattern, (path) => names.get(path) ?? path)
  return {
    hide,
    store: (text) => hide(text.replaceAll(marked, (_, waves: string, name: string) => `{~${waves}${name}}`)),
    fill: (text) =>
      text.replaceAll(marked, (whole, waves: string, name: string) =>
        waves === '' ? (fillings.get(name) ?? whole) : `{${waves.slice(1)}${name}}`,
      ),
  }
}

const marked = new RegExp(`\\{(~*)((?:${placeNames.join('|')})(?:-dashed)?)\\}`, 'g')

interface Spelling {
  readonly path: string
  readonly placeholder: string
  readonly source: string
}

/** The longest first: a home that lies in the workspace is the home. */
function spellingsOf(places: RecordedDirectories): readonly Spelling[] {
  const found = new Map<string, Spelling>()
  for (const name of placeNames) {
    for (const path of pathsOf(places[name]).flatMap(withAliases)) {
      // `/a/b` is not meant by `/a/bc`, `/a/b-c` or `/a/b.c`, but by `/a/b/c` and by `/a/b.` at the end of a sentence.
      add(found, path, `{${name}}`, '(?![A-Za-z0-9_-]|\\.[A-Za-z0-9])')
      const inJson = JSON.stringify(path).slice(1, -1)
      add(found, inJson, `{${name}}`, '(?![A-Za-z0-9_-]|\\.[A-Za-z0-9])')
      if (canBeDashed(name, path)) add(found, dashed(path), `{${name}-dashed}`, '(?![A-Za-z0-9])')
    }
  }
  return [...found.values()].sort((a, b) => b.path.length - a.path.length)
}

function add(found: Map<string, Spelling>, path: string, placeholder: string, until: string): void {
  if (!found.has(path)) found.set(path, { path, placeholder, source: `${escapePattern(path)}${until}` })
}

function fillingsOf(places: RecordedDirectories): ReadonlyMap<string, string> {
  const fillings = new Map<string, string>()
  for (const name of placeNames) {
    const [path] = pathsOf(places[name])
    if (path === undefined) continue
    fillings.set(name, path)
    fillings.set(`${name}-dashed`, dashed(path))
  }
  return fillings
}

function pathsOf(place: string | readonly string[] | undefined): readonly string[] {
  const spelled = place === undefined ? [] : typeof place === 'string' ? [place] : place
  return spelled.map((path) => path.replace(/\/+$/, '')).filter((path) => path !== '')
}

/** macOS tells the same directory with and without `/private`. */
function withAliases(path: string): readonly string[] {
  return /^\/(tmp|var)\//.test(path) ? [path, `/private${path}`] : [path]
}

/** Claude Code names the directory of a project after its path. A short one would be found in any flag. */
function canBeDashed(name: PlaceName, path: string): boolean {
  return (name === 'workspace' || name === 'project') && path.split('/').length > 2
}

function dashed(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9]/g, '-')
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
