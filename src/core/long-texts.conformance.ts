import { expect, test } from 'vitest'
import { createRedactor } from './redactor.ts'

const { text: redactAll } = createRedactor({ personal: true })

/** A pattern that takes more than linear time would not end on a megabyte of these. */
export function redactsLongTexts(bytes: number): void {
  test.each([
    'a',
    'sk-',
    'eyJ',
    'eyJaaaaaaaa.',
    '@',
    'a@',
    'a@a.',
    'token=',
    'token="',
    'password: "\\"',
    'token ',
    '--token ',
    '\\',
    '"',
    '://',
    '://a:',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n',
    'Bearer auth',
    'authorization: ',
    '/home/',
    'C:\\Users\\',
    '[REDACTED]',
    'token=[REDACTED]',
  ])('%j again and again is redacted in linear time', (piece) => {
    expect(redactAll(piece.repeat(Math.ceil(bytes / piece.length)))).not.toBe('')
  })
}
