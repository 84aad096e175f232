import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
/** Where `build-program.ts` puts the program, in the layout of the published package. */
export const programDirectory = join(root, 'node_modules/.cache/gantry/program')

/** The program as it is published: it starts in a third of the time that the source needs. */
export const program = join(programDirectory, 'cli/bin.js')
