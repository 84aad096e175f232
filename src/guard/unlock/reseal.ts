import { lookAtSeal, sealFiles } from '../../guard-engine/seal/seal-files.ts'
import { provePerson } from './prove-person.ts'
import type { PersonsNote } from './unlock.ts'

export interface ResealRequest extends PersonsNote {
  /** What is sealed: `sealedPaths` of the project. */
  readonly paths: readonly string[]
  /** The seal as it is; null when there is none. */
  readonly sealed: Readonly<Record<string, string | null>> | null
}

/** Accepts the files that steer the guard as they are now. */
export async function reseal(request: ResealRequest): Promise<{ readonly changed: readonly string[] }> {
  const breaks = request.sealed === null ? [] : await lookAtSeal(request.sealed)
  const shown = breaks.map(({ path, what }) => `  ${path}: ${what}`).join('\n')
  const about =
    request.sealed === null
      ? 'There is no seal yet. The files that steer the guard are sealed as they are.'
      : breaks.length === 0
        ? 'Every sealed file is as it was sealed. The seal is made anew.'
        : `These files differ from their seal, and are accepted as they are:\n${shown}`
  await provePerson({ ...request, about })
  request.append({ kind: 'sealed', files: await sealFiles(request.paths) })
  return { changed: breaks.map(({ path }) => path) }
}
