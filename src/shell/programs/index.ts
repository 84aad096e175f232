import type { Program } from '../shell-state.ts'
import { archives } from './archives.ts'
import { copies } from './copies.ts'
import { downloads } from './downloads.ts'
import { editors } from './editors.ts'
import { git } from './git.ts'
import { makeDirectories, operandPrograms } from './operands.ts'
import { outputPrograms } from './outputs.ts'

/** Programs that change files, by name. */
export const programs: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...operandPrograms,
  ...copies,
  ...outputPrograms,
  ...downloads,
  ...editors,
  ...archives,
  ['mkdir', makeDirectories],
  ['gmkdir', makeDirectories],
  ['git', git],
  ['hub', git],
])
