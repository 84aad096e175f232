import { join } from 'node:path'
import { version } from '../../../core/version.ts'
import { writeFileAtomic, writeJsonAtomic } from '../../../io/files.ts'
import { isFile } from '../../../io/path-kind.ts'
import { sha256 } from '../../../io/sha256.ts'
import { type CassetteIndex, type ExchangeFile, formatVersion } from './exchange-file.ts'
import type { BlobWriter } from './pack-value.ts'
import { blobPath, exchangeName, indexName } from './read-directory.ts'

/** Writes into one directory. Everything is atomic; the index says `complete: false` until `finish`. */
export interface CassetteWriter extends BlobWriter {
  begin(): void
  exchange(file: ExchangeFile): void
  finish(exchanges: number): void
}

export function createWriter(
  dir: string,
  about: { readonly recordedAt: string; readonly facts: Readonly<Record<string, unknown>> },
): CassetteWriter {
  const writeIndex = (exchanges: number, complete: boolean): void => {
    const { recordedAt, facts } = about
    const index: CassetteIndex = {
      format: formatVersion,
      gantry: version,
      recorded_at: recordedAt,
      facts: { ...facts },
      exchanges,
      complete,
    }
    writeJsonAtomic(join(dir, indexName), index)
  }
  return {
    begin: () => writeIndex(0, false),
    put: (text) => {
      const name = sha256(text).slice(0, 16)
      const path = blobPath(dir, name)
      if (!isFile(path)) writeFileAtomic(path, text)
      return name
    },
    exchange: (file) => writeJsonAtomic(join(dir, exchangeName(file.exchange)), file),
    finish: (exchanges) => writeIndex(exchanges, true),
  }
}
