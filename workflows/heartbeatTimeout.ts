/** The attempt of a worker that has given no sign of life for so long is another's to make. Workers give one several times as often. */
export const heartbeatTimeout = '15 seconds';
