import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
/** Where `build-program.ts` puts the program, in the layout of the published package. */
export const programDirectory = join(root, 'node_modules/.cache/gantry/program')

/** The published program: it starts three times as fast as the source. */
export const program = join(programDirectory, 'cli/bin.js')

/** The published hook program. Tests that change it change a copy. */
export const hookProgram = join(programDirectory, 'hook/hook-bin.js')
