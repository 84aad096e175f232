import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { readTextInside, writeFileAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import { readForeignFile, replaceForeignFile } from '../../io/replace-file.ts'

const maxBytes = 16 * 1024 * 1024

/** The plan of a project, which may be changed or taken away at any time. */
export interface PlanFile {
  readonly root: string
  /** Below the root, with `/`. */
  readonly path: string
}

/** null when there is no file inside the project that can be read as UTF-8. */
export function readPlanFile({ root, path }: PlanFile): string | null {
  const file = readTextInside(root, path, { maxBytes })
  // What stands for a byte that is no text must never be written back.
  return file.kind === 'text' && !file.text.includes('\uFFFD') ? file.text : null
}

/** As `readPlanFile`, for whoever cannot go on without it. */
export function requirePlanFile(plan: PlanFile): string {
  const text = readPlanFile(plan)
  if (text !== null) return text
  throw new GantryError('NOT_FOUND', `there is no plan ${join(plan.root, plan.path)}`, {
    hint: 'Write one with tasks as `- [ ] title`, or name another: gantry plan run PLAN.',
  })
}

/** In one step, with the permissions it had. A reader sees the old text or the new one. */
export function writePlanFile({ root, path }: PlanFile, text: string): void {
  const whole = join(root, path)
  // A file that is gone, or that a link has taken the place of, is made anew where it belongs.
  if (isFile(whole) && readPlanFile({ root, path }) !== null) replaceForeignFile(readForeignFile(whole), text)
  else writeFileAtomic(whole, text)
}
