/* Prints the number and the type of the devices where a thread of InfiniRT starts. */
#include <infinirt.h>
#include <stdio.h>

int main(void)
{
    infiniDevice_t type;
    int counts[INFINI_DEVICE_TYPE_COUNT];
    if (infinirtGetAllDeviceCount(counts) != INFINI_STATUS_SUCCESS ||
        infinirtGetDevice(&type, NULL) != INFINI_STATUS_SUCCESS)
        return 1;
    printf("%d of type %d\n", counts[type], (int)type);
    return 0;
}
