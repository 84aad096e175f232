import { GantryError } from '../../core/error.ts'
import { unpackTree } from '../../io/pack-tree.ts'
import type { SettledTrial, TrialQueue } from './contract.ts'

/** Unpacks the archive of a result. Returns what is wrong with it; null when all of it is there. */
export async function unpackBlob(
  { archive, files }: Pick<SettledTrial, 'archive' | 'files'>,
  dir: string,
  queue: TrialQueue,
): Promise<string | null> {
  try {
    unpackTree(files ?? (await queue.get(archive ?? '')), dir)
    return null
  } catch (error) {
    if (!(error instanceof GantryError && (error.code === 'CORRUPT' || error.code === 'NOT_FOUND')))
      throw error
    return error.message
  }
}
