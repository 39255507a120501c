#!/bin/busybox sh
# The first program of a guest: load modules, mount the machine's root and the job's folder, run the job, power off.
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/usr/sbin:/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
echo 3 > /proc/sys/kernel/printk
# Some modules are built into some kernels: insmod then says that the file exists.
for module in /modules/*; do insmod "$module" 2> /dev/null; done

mkdir -p /machine /work /lower /upper
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro root /lower || echo "no root"
mount -t tmpfs -o size=60% tmpfs /upper
mkdir -p /upper/up /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/up,workdir=/upper/work overlay /machine
mount -t proc proc /machine/proc
mount -t sysfs sys /machine/sys
mount --bind /dev /machine/dev
mkdir -p /machine/dev/pts /machine/dev/shm
mount -t devpts devpts /machine/dev/pts
mount -t tmpfs tmpfs /machine/dev/shm
mount -t tmpfs tmpfs /machine/run
mkdir -m 1777 /machine/run/tmp
mkdir -p /machine/job
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none job /machine/job || echo "no job folder"

number=$(sed -n 's/.*gdviz.node=\([0-9]*\).*/\1/p' /proc/cmdline)
hostname "node-${number:-1}"
ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
  ip link set eth0 mtu 4200 up
  ip addr add "10.77.0.${number:-1}/24" dev eth0
  chroot /machine /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin rdma link add rxe0 type rxe netdev eth0
fi
echo "gdviz guest ready"
chroot /machine /usr/bin/env -i HOME=/run/tmp TMPDIR=/run/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  LANG=C.UTF-8 NODE="${number:-1}" sh -c 'ulimit -l unlimited; ulimit -n 4096; exec sh /job/job.sh' > /machine/job/output.txt 2>&1
echo $? > /machine/job/status
sync
echo o > /proc/sysrq-trigger
sleep 30
