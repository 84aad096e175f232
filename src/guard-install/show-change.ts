import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { HookFileChange } from './hook-file-change.ts'

/** A unified diff; empty when there is nothing to do. */
export function showChange({ file, after }: Pick<HookFileChange, 'file' | 'after'>): string {
  if (after === file.text) return ''
  const nothing = '/dev/null'
  return createTwoFilesPatch(
    file.text === null ? nothing : file.path,
    after === null ? nothing : file.path,
    file.text ?? '',
    after ?? '',
    undefined,
    undefined,
    { context: 3, headerOptions: FILE_HEADERS_ONLY },
  )
}
