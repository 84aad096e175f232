/** Directories that differ from trial to trial. Stored text names them instead of their paths. */
const placeNames = ['workspace', 'home', 'tmp', 'project'] as const

export type PlaceName = (typeof placeNames)[number]

/** A path, or several spellings of it (with and without symlinks); the first is the one to fill in. */
export type RecordedDirectories = Readonly<Partial<Record<PlaceName, string | readonly string[]>>>

export type PlaceCodec = ReturnType<typeof createPlaceCodec>

/** Replaces paths in text by placeholders, and back. */
export function createPlaceCodec(places: RecordedDirectories) {
  const spellings = spellingsOf(places)
  const names = new Map(spellings.map(({ path, placeholder }) => [path, placeholder]))
  const pattern =
    spellings.length === 0 ? null : new RegExp(spellings.map(({ source }) => source).join('|'), 'g')
  const fillings = fillingsOf(places)
  const hide = (text: string): string =>
    pattern === null ? text : text.replaceAll(pattern, (path) => names.get(path) ?? path)
  return {
    /** Replaces every path by `{workspace}` and so on, for comparison only. Idempotent. */
    hide,
    /** The same, but reversible: a literal `{workspace}` becomes `{~workspace}`. */
    store: (text: string) =>
      hide(text.replaceAll(marked, (_, waves: string, name: string) => `{~${waves}${name}}`)),
    /** Undoes `store`, with the paths of these directories. Placeholders without a path stay. */
    fill: (text: string) =>
      text.replaceAll(marked, (whole, waves: string, name: string) =>
        waves === '' ? (fillings.get(name) ?? whole) : `{${waves.slice(1)}${name}}`,
      ),
  }
}

const marked = new RegExp(`\\{(~*)((?:${placeNames.join('|')})(?:-dashed)?)\\}`, 'g')

/** The longest first: a home inside the workspace is the home. */
function spellingsOf(places: RecordedDirectories) {
  const found = new Map<string, { path: string; placeholder: string; source: string }>()
  const add = (path: string, placeholder: string, until: string): void => {
    if (!found.has(path)) found.set(path, { path, placeholder, source: `${RegExp.escape(path)}${until}` })
  }
  for (const name of placeNames) {
    for (const path of pathsOf(places[name]).flatMap(withAliases)) {
      // `/a/b` matches in `/a/b/c` and in `/a/b.` at the end of a sentence, but not in `/a/bc`, `/a/b-c` or `/a/b.c`.
      add(path, `{${name}}`, '(?![A-Za-z0-9_-]|\\.[A-Za-z0-9])')
      const inJson = JSON.stringify(path).slice(1, -1)
      add(inJson, `{${name}}`, '(?![A-Za-z0-9_-]|\\.[A-Za-z0-9])')
      if (canBeDashed(name, path)) add(dashed(path), `{${name}-dashed}`, '(?![A-Za-z0-9])')
    }
  }
  return [...found.values()].sort((a, b) => b.path.length - a.path.length)
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

/** macOS reports the same directory with and without `/private`. */
function withAliases(path: string): readonly string[] {
  return /^\/(tmp|var)\//.test(path) ? [path, `/private${path}`] : [path]
}

/** Claude Code names the directory of a project after its path. A short one would match in any flag. */
function canBeDashed(name: PlaceName, path: string): boolean {
  return (name === 'workspace' || name === 'project') && path.split('/').length > 2
}

function dashed(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9]/g, '-')
}
