import { dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { isFile } from '../io/path-kind.ts'

/**
 * The program every hook starts. In the published package it is `hook/hook-bin.js` beside the program's own bundle; in a checkout
 * it is the source, which Node runs as it is: a bundle that somebody built there may be older than the rules.
 */
export function hookBinPath(from: string = import.meta.dirname): string {
  for (let directory = from; ; directory = dirname(directory)) {
    const found = places.map((place) => join(directory, place)).find(isFile)
    if (found !== undefined) return found
    if (dirname(directory) === directory) break
  }
  throw new GantryError('NOT_FOUND', 'the program that the hooks start is not there', {
    hint: 'Install Gantry again, or build it: npm run build.',
  })
}

const places = ['hook/hook-bin.js', 'src/hook-bin.ts']
